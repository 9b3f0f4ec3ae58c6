// The list of cases: which ones the filters show, fifty at a time, and what is beside each.

const PAGE = 50; // cases in the list at once
const { cases, runs } = data;
const taken = (places) => places.map((place) => (place === null ? null : data.answers[place]));
for (const run of runs) for (const asked of [run, ...run.controls]) asked.answers = taken(asked.answers);
const position = new Map(cases.map((one, index) => [one.id, index]));
let found = cases.map((_, index) => index);
let page = 0;
let current = -1;
let searchable = null; // made when first needed

function options(select, values, name = spaced) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  for (const [value, times] of counts) at(select).append(make("option", { value }, `${name(value)} (${count(times)})`));
}
runs.forEach((run) => at("run").append(make("option", { value: run.place }, `${run.place} ${run.name}`)));
options("cell", cases.map((one) => one.cell));
options("user", cases.map((one) => one.user).sort(), (user) => user);
options("flag", cases.flatMap((one) => one.flags));
at("disagree").disabled = runs.length < 2;
at("result").querySelector("[value=person]").disabled = !runs.some((run) => run.controls.length);

const unreadable = (answer) => (answer.picks ?? []).some((epoch) => epoch.some(([, right]) => right === null));
const RESULTS = {
  missed: (answer) => answer.score !== null && answer.score < 1,
  wrong: (answer) => answer.score === 0,
  mixed: (answer) => answer.score > 0 && answer.score < 1,
  right: (answer) => answer.score === 1,
  person: (answer, run, index) => answer.score === 1 && run.controls.length > 0 && run.controls.every((other) => other.answers[index]?.score < 1),
  unreadable,
};

// One run picks the better response, another the other one. Half right is neither.
function disagree(index) {
  const scores = runs.map((run) => run.answers[index]?.score ?? 0.5);
  return Math.max(...scores) > 0.5 && Math.min(...scores) < 0.5;
}

function texts() {
  if (!searchable) {
    const people = data.people.map((person) => person.toLowerCase());
    searchable = cases.map((one) => {
      const parts = [one.id, one.user, one.question ?? "", ...(one.responses ?? [])].map((part) => part.toLowerCase());
      const more = (one.texts ?? []).map(([, content]) => content.toLowerCase());
      return [...parts, ...more, people[one.about] ?? ""];
    });
  }
  return searchable;
}

const FILTERS = ["search", "run", "result", "cell", "user", "flag"];
const set = () => FILTERS.filter((id) => at(id).value.trim()).map((id) => [id, at(id).value.trim()]).concat(at("disagree").checked ? [["disagree", "1"]] : []);

// The link to a case, or to all of them, with the filters.
const address = (id) => `#${[id === undefined ? "cases" : `case=${encodeURIComponent(id)}`, ...set().map(([name, value]) => `${name}=${encodeURIComponent(value)}`)].join("&")}`;

function filter() {
  const [wanted, place, result, cell, user, flag] = FILTERS.map((id) => at(id).value);
  const sought = wanted.trim().toLowerCase();
  const among = place === "" ? runs : runs.filter((run) => run.place === place);
  found = cases.flatMap((one, index) => {
    const kept =
      (!cell || one.cell === cell) &&
      (!user || one.user === user) &&
      (!flag || (flag === "-" ? !one.flags.length : one.flags.includes(flag))) &&
      (!at("disagree").checked || disagree(index)) &&
      (!result ? place === "" || among[0].answers[index] : among.some((run) => run.answers[index] && RESULTS[result](run.answers[index], run, index))) &&
      (!sought || texts()[index].some((part) => part.includes(sought)));
    return kept ? [index] : [];
  });
  page = Math.max(0, Math.floor(found.indexOf(current) / PAGE));
  list();
}

// After a change by hand: the address follows.
function changed() {
  filter();
  history.replaceState(null, "", address(cases[current]?.id));
  at("case").querySelector("h2 a")?.setAttribute("href", location.hash);
}

// --- the list --------------------------------------------------------------------------------------------------------

const kind = (answer) => (!answer || answer.score === null ? "none" : answer.score === 1 ? "right" : answer.score === 0 ? "wrong" : "mixed");

const WORDS_OF = { right: "right in all calls", mixed: "right in some calls", wrong: "right in no call", none: "not asked" };

function marks(index) {
  const kinds = runs.map((run) => kind(run.answers[index]));
  const right = kinds.filter((one) => one === "right").length;
  const label = `${right} of ${kinds.filter((one) => one !== "none").length} runs right throughout`;
  const circles = kinds.map((one, place) => make("span", { class: `mark ${one}`, title: `${runs[place].place} ${runs[place].name}: ${WORDS_OF[one]}` }));
  return make("span", { class: "marks", role: "img", "aria-label": label }, ...circles);
}

function row(index) {
  const one = cases[index];
  const link = make(
    "a",
    { href: address(one.id), tabindex: -1 },
    make("span", { class: "id" }, make("bdi", {}, one.id), " · ", make("bdi", {}, one.user), one.flags.length ? " · ⚑" : ""),
    marks(index),
    one.question === undefined ? null : make("span", { class: "question", ...written(one.question) }, one.question),
  );
  link.dataset.index = index;
  return make("li", {}, link);
}

function list() {
  const first = page * PAGE;
  const rows = found.slice(first, first + PAGE);
  at("list").replaceChildren(...rows.map(row));
  const range = rows.length ? `${count(first + 1)}–${count(first + rows.length)} of ` : "";
  at("found").textContent = `${range}${count(found.length)} case${found.length === 1 ? "" : "s"}`;
  at("none").hidden = rows.length > 0;
  at("back").disabled = page === 0;
  at("more").disabled = first + PAGE >= found.length;
  highlight();
}

// One stop for the Tab key: the case that is shown, or the first one.
function highlight() {
  const links = [...at("list").querySelectorAll("a")];
  const chosen = links.find((link) => Number(link.dataset.index) === current);
  for (const link of links) {
    link.tabIndex = link === (chosen ?? links[0]) ? 0 : -1;
    if (link === chosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  return chosen;
}

function turn(by) {
  page += by;
  list();
  at("list").scrollTop = 0;
}
at("back").addEventListener("click", () => turn(-1));
at("more").addEventListener("click", () => turn(1));
at("clear").addEventListener("click", () => {
  document.querySelector(".filters").reset();
  at("search").focus();
});

function step(by) {
  const place = found.indexOf(current);
  const next = place < 0 ? (by > 0 ? 0 : -1) : place + by;
  if (next < 0 || next >= found.length) return;
  history.replaceState(null, "", address(cases[found[next]].id));
  route();
}
