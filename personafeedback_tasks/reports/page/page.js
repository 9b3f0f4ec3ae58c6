
"use strict";
(() => {
  const PAGE = 50;
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const count = (number) => number.toLocaleString("en-US");
  const spaced = (name) => name.replaceAll("_", " ");

  // Texts become text nodes, whatever they contain; attributes are ours.
  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  function text(tag, className, content) {
    return make(tag, { class: `text ${className}`, dir: "auto" }, ...marked(content));
  }

  // The text, with what is searched for as <mark>.
  function marked(content) {
    const wanted = at("search").value.trim().toLowerCase();
    const lower = content.toLowerCase();
    if (!wanted || lower.length !== content.length) return [content];
    const parts = [];
    let from = 0;
    for (let to = lower.indexOf(wanted); to >= 0; to = lower.indexOf(wanted, from)) {
      parts.push(content.slice(from, to), make("mark", {}, content.slice(to, to + wanted.length)));
      from = to + wanted.length;
    }
    return [...parts, content.slice(from)];
  }

  // --- the ranking -----------------------------------------------------------------------------------------------------

  function sort(table, column) {
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...table.tBodies[0].rows];
    const texts = new Map(rows.map((row) => [row, row.cells[column].textContent.trim()]));
    const numbers = new Map(rows.map((row) => [row, parseFloat(texts.get(row).replaceAll(",", ""))]));
    const numeric = rows.some((row) => !isNaN(numbers.get(row))) && rows.every((row) => !isNaN(numbers.get(row)) || texts.get(row) === "–");
    const before = heads[column].getAttribute("aria-sort");
    const order = before ? (before === "ascending" ? "descending" : "ascending") : numeric ? "descending" : "ascending";
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
      head.firstElementChild.addEventListener("click", () => sort(table, column));
    }
  }

  // --- which cases are shown -------------------------------------------------------------------------------------------

  const { cases, answers, runs } = data;
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
  runs.forEach((run, index) => at("run").append(make("option", { value: index }, `${run.place} ${run.name}`)));
  options("cell", cases.map((one) => one.cell));
  options("user", cases.map((one) => one.user).sort(), (user) => user);
  options("flag", cases.flatMap((one) => one.flags));
  at("disagree").disabled = runs.length < 2;

  const unreadable = (answer) => (answer.picks ?? []).some((epoch) => epoch.some(([, right]) => right === null));
  const RESULTS = {
    missed: (answer) => answer.score !== null && answer.score < 1,
    wrong: (answer) => answer.score === 0,
    mixed: (answer) => answer.score > 0 && answer.score < 1,
    right: (answer) => answer.score === 1,
    unreadable,
  };

  // One run picks the better response, another the other one. Half right is neither.
  function disagree(index) {
    const scores = answers.map((run) => run[index]?.score ?? 0.5);
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

  function filter() {
    const [wanted, run, result, cell, user, flag] = ["search", "run", "result", "cell", "user", "flag"].map((id) => at(id).value);
    const sought = wanted.trim().toLowerCase();
    const among = run === "" ? answers : [answers[run]];
    found = cases.flatMap((one, index) => {
      const kept =
        (!cell || one.cell === cell) &&
        (!user || one.user === user) &&
        (!flag || (flag === "-" ? !one.flags.length : one.flags.includes(flag))) &&
        (!at("disagree").checked || disagree(index)) &&
        (!result ? run === "" || among[0][index] : among.some((answered) => answered[index] && RESULTS[result](answered[index]))) &&
        (!sought || texts()[index].some((part) => part.includes(sought)));
      return kept ? [index] : [];
    });
    page = Math.max(0, Math.floor(found.indexOf(current) / PAGE));
    list();
  }

  // --- the list --------------------------------------------------------------------------------------------------------

  const kind = (answer) => (!answer || answer.score === null ? "none" : answer.score === 1 ? "right" : answer.score === 0 ? "wrong" : "mixed");

  function marks(index) {
    const kinds = answers.map((run) => kind(run[index]));
    const right = kinds.filter((one) => one === "right").length;
    const label = `${right} of ${kinds.filter((one) => one !== "none").length} runs right throughout`;
    return make("span", { class: "marks", role: "img", "aria-label": label }, ...kinds.map((one) => make("span", { class: `mark ${one}` })));
  }

  function row(index) {
    const one = cases[index];
    const link = make(
      "a",
      { href: `#case=${encodeURIComponent(one.id)}`, tabindex: -1 },
      make("span", { class: "id" }, make("bdi", {}, one.id), " · ", make("bdi", {}, one.user), one.flags.length ? " · ⚑" : ""),
      marks(index),
      one.question === undefined ? null : make("span", { class: "question", dir: "auto" }, one.question),
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

  function step(by) {
    const place = found.indexOf(current);
    const next = place < 0 ? (by > 0 ? 0 : -1) : place + by;
    if (next >= 0 && next < found.length) location.replace(`#case=${encodeURIComponent(cases[found[next]].id)}`);
  }

  // --- one case --------------------------------------------------------------------------------------------------------

  function pick([answer, right], kind) {
    const verdict = right === "" ? "" : `, ${kind.labels[right ? 0 : 1]}`; // none where no label is right
    const label = right === null ? `unreadable: ${spaced(answer)}` : `${answer}${verdict}`;
    return make("span", { class: "pick" }, make("span", { class: `mark ${right ? "right" : right === false ? "wrong" : "none"}` }), label);
  }

  function cells(run, answer) {
    if (!answer) return [make("td", { colspan: run.calls.length }, "not asked")];
    if (answer.rewards) return run.calls.map((call, place) => make("td", { "data-call": spaced(call) }, ...answer.rewards.map((pair) => make("span", { class: "pick" }, pair[place].toPrecision(4)))));
    return run.calls.map((call, place) => make("td", { "data-call": spaced(call) }, ...(answer.picks ?? []).map((epoch) => pick(epoch[place], data.kinds[run.kind]))));
  }

  function note(answer) {
    const parts = [];
    if (answer?.probability !== undefined) parts.push(make("div", {}, `${(100 * answer.probability).toFixed(1)} %`));
    for (const [reason, said] of answer?.said ?? []) parts.push(make("span", { class: "said", dir: "auto" }, `${spaced(reason)}: “${said}”`));
    return parts;
  }

  // Runs with other calls (a reward model scores each response) have a table of their own.
  function picks(index) {
    const groups = new Map();
    runs.forEach((run, number) => {
      if (run.kind !== cases[index].kind) return; // of another benchmark
      const key = JSON.stringify(run.calls);
      groups.set(key, [...(groups.get(key) ?? []), number]);
    });
    return [...groups.values()].map((numbers) => {
      const of = numbers.map((number) => answers[number][index]);
      const noted = of.map(note);
      const last = of.some((answer) => answer?.probability !== undefined) ? `probability of ${data.kinds[cases[index].kind].labels[0]}` : "";
      const heads = ["run", ...runs[numbers[0]].calls.map(spaced), ...(noted.some((parts) => parts.length) ? [last] : [])];
      return make(
        "table",
        { class: "picks" },
        make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
        make(
          "tbody",
          {},
          ...numbers.map((number, place) =>
            make(
              "tr",
              {},
              make("th", { scope: "row" }, make("span", { class: "place" }, runs[number].place), " ", make("bdi", {}, runs[number].name)),
              ...cells(runs[number], of[place]),
              noted[place].length ? make("td", {}, ...noted[place]) : null,
            ),
          ),
        ),
      );
    });
  }

  function response(one, place) {
    const mine = one.lengths[place];
    const others = one.lengths.filter((_, other) => other !== place);
    const labels = data.kinds[one.kind].labels;
    const two = one.responses.length === 2;
    return make(
      "section",
      { class: place === 0 ? "response better" : "response" },
      make(
        "header",
        {},
        make("b", {}, place === 0 ? labels[0] : two ? labels[1] : `${labels[1]} ${place}`),
        make("span", { class: "muted" }, `${count(mine)} characters`),
        mine > Math.max(...others) ? make("span", { class: "tag" }, two ? "longer" : "longest") : null,
      ),
      text("div", "", one.responses[place]),
    );
  }

  function head(one) {
    const go = (by, label) => {
      const button = make("button", { type: "button" }, label);
      button.addEventListener("click", () => step(by));
      return button;
    };
    const only = make("button", { type: "button" }, "only this user");
    only.addEventListener("click", () => {
      at("user").value = one.user;
      filter();
    });
    return make(
      "header",
      { class: "case-head" },
      make("h2", {}, make("a", { href: `#case=${encodeURIComponent(one.id)}`, title: "Link to this case" }, make("bdi", {}, one.id))),
      make("span", { class: "muted" }, spaced(one.cell), " · ", make("bdi", {}, one.user)),
      make("span", { class: "go" }, only, go(-1, "Previous"), go(1, "Next")),
    );
  }

  function flags(one) {
    const found = one.flags.map((name) => make("li", {}, make("span", { class: "tag" }, `⚑ ${spaced(name)}`), ` ${data.flags[name]}`));
    return found.length ? make("ul", { class: "flags", "aria-label": "Audit flags" }, ...found) : null;
  }

  function show(index) {
    const one = cases[index];
    const told = one.about !== undefined;
    const kind = data.kinds[one.kind];
    const asked = one.question === undefined ? [] : [make("h3", {}, kind.question), text("p", "question", one.question)];
    const texts = (one.texts ?? []).flatMap(([heading, content]) => [make("h3", {}, heading), text("p", "", content)]);
    const responses = one.responses ? make("div", { class: "responses" }, ...one.responses.map((_, place) => response(one, place))) : null;
    const about = told ? make("div", { class: "about" }, make("h3", {}, kind.about), text("div", "", data.people[one.about])) : null;
    const main = make("div", {}, ...asked, ...texts, responses, make("h3", {}, `What the runs ${kind.did}`), ...picks(index));
    const body = make("div", { class: told ? "body told" : "body" }, main, about);
    at("case").replaceChildren(make("div", {}, head(one), flags(one), body));
    at("case").scrollTop = 0;
  }

  // --- where we are ----------------------------------------------------------------------------------------------------

  function wanted() {
    try {
      return decodeURIComponent(location.hash.match(/^#case=(.+)$/s)?.[1] ?? "");
    } catch {
      return location.hash;
    }
  }

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
    const id = wanted();
    view(id || location.hash === "#cases" ? "cases" : "ranking");
    if (!id) return;
    const index = position.get(id);
    if (index === undefined) {
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
    if (on === at("search") && event.key === "Escape") on.blur();
    if (["INPUT", "SELECT", "TEXTAREA"].includes(on?.tagName)) return;
    const arrows = on === document.body || at("list").contains(on); // elsewhere they scroll
    const by = { j: 1, k: -1, ...(arrows ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
    if (by === undefined && event.key !== "/") return;
    event.preventDefault();
    if (by === undefined) at("search").select();
    else step(by);
  });
  const form = document.querySelector(".filters");
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  addEventListener("hashchange", route);

  list();
  route();
  performance.mark("drawn");
})();
