// The data and what all scripts of the page use; and the ranking, which can be sorted, searched and widened.

const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en-US");
const spaced = (name) => name.replaceAll("_", " ");

function sort(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, row.cells[column].textContent.trim()]));
  const numeric = rows[0].cells[column].dataset.sort !== undefined;
  const numbers = new Map(rows.map((row) => [row, parseFloat(row.cells[column].dataset.sort)]));
  const before = heads[column].getAttribute("aria-sort");
  const order = before ? (before === "ascending" ? "descending" : "ascending") : numeric && column ? "descending" : "ascending";
  const sign = order === "ascending" ? 1 : -1;
  rows.sort((a, b) => {
    if (!numeric) return sign * texts.get(a).localeCompare(texts.get(b), "en", { numeric: true });
    const [x, y] = [numbers.get(a), numbers.get(b)];
    return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y); // what is undefined comes last
  });
  heads.forEach((head, place) => (place === column ? head.setAttribute("aria-sort", order) : head.removeAttribute("aria-sort")));
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll(".sortable")) {
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    head.firstElementChild?.addEventListener("click", () => sort(table, column));
  }
}

const named = (node) => data.runs.find((run) => run.place === node.dataset.run).name;

for (const part of document.querySelectorAll(".part.ranked")) {
  const find = (selector) => part.querySelector(selector);
  for (const head of part.querySelectorAll("th[data-run]")) head.title = named(head);
  find(".model-search").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const row of part.querySelectorAll("tr[data-run], .bar[data-run]")) row.hidden = !named(row).toLowerCase().includes(wanted);
    find("p.none").hidden = [...find(".sortable").tBodies[0].rows].some((row) => !row.hidden);
  });
  find(".more-columns").addEventListener("click", (event) => {
    const all = !find(".sortable").classList.toggle("short");
    event.target.setAttribute("aria-pressed", all);
    event.target.textContent = all ? "Fewer columns" : "More columns";
  });
}
