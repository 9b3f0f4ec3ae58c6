
"use strict";
(() => {
  const PAGE = 50;
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const count = (number) => number.toLocaleString("en-US");
  const spaced = (name) => name.replaceAll("_", " ");

  function text(tag, className, content) {
    return make(tag, { class: `text ${className}`, ...written(content) }, ...marked(content));
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

  // --- which cases are shown -------------------------------------------------------------------------------------------

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
    for (const [reason, said] of answer?.said ?? []) parts.push(make("span", { class: "said", ...written(said) }, `${spaced(reason)}: “${said}”`));
    return parts;
  }

  // Whom a run was told about; of another person, the user's id.
  function whom(index, who) {
    const user = cases[index].others?.[who];
    return user === undefined ? who : `${who} (${user})`;
  }

  // Runs with other calls (a reward model scores each response) have a table of their own. Below a run: the same with another persona, and with none.
  function picks(index) {
    const groups = new Map();
    for (const run of runs) {
      if (run.kind !== cases[index].kind) continue; // of another benchmark
      const key = JSON.stringify(run.calls);
      groups.set(key, [...(groups.get(key) ?? []), run]);
    }
    return [...groups.values()].map((group) => {
      const rows = group.flatMap((run) => [run, ...run.controls].map((asked) => [run, asked, asked.answers[index]]));
      const noted = rows.map(([, , answer]) => note(answer));
      const controlled = group.some((run) => run.controls.length);
      const sure = rows.some(([, , answer]) => answer?.probability !== undefined) ? `probability of ${data.kinds[cases[index].kind].labels[0]}` : "reply";
      const heads = ["run", ...(controlled ? ["told about"] : []), ...group[0].calls.map(spaced), ...(noted.some((parts) => parts.length) ? [sure] : [])];
      const title = (run, asked) =>
        make("th", { scope: "row" }, ...(run === asked ? [make("span", { class: "place" }, run.place), " ", make("bdi", {}, run.name)] : [make("span", { class: "sr" }, run.name)]));
      return make(
        "table",
        { class: "picks" },
        make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
        make(
          "tbody",
          {},
          ...rows.map(([run, asked, answer], place) =>
            make(
              "tr",
              run === asked ? {} : { class: "control" },
              title(run, asked),
              controlled ? make("td", { class: "who" }, whom(index, asked.who ?? "")) : null,
              ...cells(run, answer),
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
      plain ? text("div", "", one.responses[place]) : markdown(one.responses[place], marked),
    );
  }

  let plain = false; // whether responses are shown as they are, with the marks of Markdown

  function head(one) {
    const go = (by, label) => {
      const button = make("button", { type: "button" }, label);
      button.addEventListener("click", () => step(by));
      return button;
    };
    const only = make("button", { type: "button" }, "only this user");
    only.addEventListener("click", () => {
      at("user").value = one.user;
      changed();
    });
    const asIs = make("button", { type: "button", "aria-pressed": plain }, "plain text");
    asIs.addEventListener("click", () => {
      plain = !plain;
      show(current);
    });
    return make(
      "header",
      { class: "case-head" },
      make("h2", {}, make("a", { href: address(one.id), title: "Link to this case" }, make("bdi", {}, one.id))),
      make("span", { class: "muted" }, spaced(one.cell), " · ", make("bdi", {}, one.user)),
      make("span", { class: "go" }, ...(one.responses ? [asIs] : []), only, go(-1, "Previous"), go(1, "Next")),
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
    const person = told ? make("div", { class: "about" }, make("h3", {}, kind.about), text("div", "", data.people[one.about])) : null;
    const main = make("div", {}, ...asked, ...texts, responses, make("h3", {}, `What the runs ${kind.did}`), ...picks(index));
    const body = make("div", { class: told ? "body told" : "body" }, main, person);
    at("case").replaceChildren(make("div", {}, head(one), flags(one), body));
    at("case").scrollTop = 0;
  }

  // --- where we are ----------------------------------------------------------------------------------------------------

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
})();
