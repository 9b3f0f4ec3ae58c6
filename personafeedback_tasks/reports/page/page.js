// What is shown, by the address, and the keys that change it.

function view(name) {
  for (const one of ["ranking", "cases"]) {
    at(one).hidden = one !== name;
    const link = document.querySelector(`nav a[href="#${one}"]`);
    if (one === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.body.classList.toggle("browsing", name === "cases");
}

function route() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const id = asked.get("case");
  view(id || asked.has("cases") ? "cases" : "ranking");
  if (!id && !asked.has("cases")) return;
  if (JSON.stringify(set()) !== JSON.stringify([...asked].filter(([name]) => name !== "case" && name !== "cases"))) {
    for (const name of FILTERS) at(name).value = asked.get(name) ?? "";
    for (const name of FILTERS) if (at(name).selectedIndex === -1) at(name).value = ""; // an option of another page
    at("disagree").checked = asked.has("disagree");
    filter();
  }
  if (!id) return;
  const index = position.get(id);
  if (index === undefined) {
    current = -1;
    highlight();
    at("case").replaceChildren(make("p", {}, "This page has no case ", make("bdi", {}, id), "."));
    return;
  }
  const focused = at("list").contains(document.activeElement);
  current = index;
  const place = found.indexOf(current);
  if (place >= 0 && Math.floor(place / PAGE) !== page) {
    page = Math.floor(place / PAGE);
    list();
  }
  show(index);
  const link = highlight();
  link?.scrollIntoView({ block: "nearest" });
  if (focused) link?.focus({ preventScroll: true });
  if (matchMedia("(max-width: 60rem)").matches) at("case").scrollIntoView();
}

document.addEventListener("keydown", (event) => {
  const on = document.activeElement;
  if (event.ctrlKey || event.metaKey || event.altKey || at("cases").hidden) return;
  if (on === at("search") && event.key === "Escape") {
    event.preventDefault(); // which would empty it
    on.blur();
  }
  if (["INPUT", "SELECT", "TEXTAREA"].includes(on?.tagName)) return;
  const arrows = on === document.body || at("list").contains(on); // elsewhere they scroll
  const by = { j: 1, k: -1, ...(arrows ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
  if (by === undefined && event.key !== "/") return;
  event.preventDefault();
  if (by === undefined) at("search").select();
  else step(by);
});
const form = document.querySelector(".filters");
form.addEventListener("input", changed);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(changed));
addEventListener("hashchange", route);

list();
route();
performance.mark("drawn");
