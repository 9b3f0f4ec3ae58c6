(() => {
  const pack = JSON.parse(document.getElementById("data").textContent);
  const { items, words } = pack;
  const at = (id) => document.getElementById(id);
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  // --- what is kept: a record for each item, since a later page of this annotator may have other items -------------

  const key = (item) => `personafeedback vote: ${item}`;
  const empty = { vote: "", note: "", faults: [], at: "" };
  const records = new Map(items.map(({ item }) => [item, { ...empty, ...read(key(item)) }]));

  function read(name) {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch (error) {
      return null;
    }
  }

  function keep(name, value) {
    try {
      localStorage.setItem(name, JSON.stringify(value));
    } catch (error) {
      at("kept").textContent = words.not_kept;
    }
  }

  const record = (place) => records.get(items[place].item);
  const isAnswered = (place) => record(place).vote !== "";
  const firstOpen = () => items.findIndex((_, place) => !isAnswered(place));

  // --- one item ----------------------------------------------------------------------------------------------------

  let place = Math.max(0, firstOpen());
  if (firstOpen() < 0) place = items.length - 1;

  function option(text, index) {
    const letter = "ABCDEFGH"[index];
    const chosen = record(place).vote === letter ? " chosen" : "";
    const heading = make("h2", { id: `option-${letter}` }, `${pack.option} ${letter}`);
    const body = make("div", { id: letter.toLowerCase() }, markdown(text));
    return make("section", { class: `pane${chosen}`, tabindex: 0, "aria-labelledby": heading.id }, heading, body);
  }

  function answer(value, label) {
    const pressed = ticked().includes(value);
    const button = make("button", { type: "button", id: `vote-${value}`, "aria-pressed": pressed }, label);
    button.addEventListener("click", () => choose(value));
    return button;
  }

  // Marks on an option, beside the answer: `A uncomfortable`.
  function marks(_, index) {
    const letter = "ABCDEFGH"[index];
    const name = `${pack.option} ${letter}`;
    const buttons = items[place].faults.map((fault) => {
      const mark = `${letter} ${fault}`;
      const pressed = record(place).faults.includes(mark);
      const about = { type: "button", id: `fault-${letter}-${fault}`, "aria-pressed": pressed };
      const button = make("button", about, words.faults[fault]);
      button.addEventListener("click", () => toggle(mark, button));
      return button;
    });
    return make("div", { role: "group", "aria-label": name }, make("span", { class: "muted" }, name), ...buttons);
  }

  function toggle(mark, button) {
    const before = record(place).faults;
    const faults = before.includes(mark) ? before.filter((one) => one !== mark) : [...before, mark];
    Object.assign(record(place), { faults, at: new Date().toISOString() });
    keep(key(items[place].item), record(place));
    button.setAttribute("aria-pressed", faults.includes(mark));
  }

  const ticked = () => record(place).vote.split(items[place].several ? " " : "\0").filter((value) => value);

  function draw() {
    const item = items[place];
    const { vote, note } = record(place);
    at("side-heading").textContent = pack.headings[item.side[0]];
    if (at("side").dataset.side !== String(item.side[1])) {
      at("side").dataset.side = item.side[1];
      at("side-text").replaceChildren(profile(pack.sides[item.side[1]]));
      at("side").scrollTop = 0;
    }
    const sections = item.texts.map(([name, text]) => {
      const heading = make("h2", {}, pack.headings[name]);
      return make("section", { class: "pane" }, heading, make("div", { id: name }, markdown(text)));
    });
    at("texts").replaceChildren(...sections);
    at("options").replaceChildren(...item.options.map(option));
    at("options").hidden = !item.options.length;
    at("faults").replaceChildren(...(item.faults.length ? item.options.map(marks) : []));
    at("faults").hidden = !item.faults.length;
    at("asks").textContent = item.asks;
    const [listed, below] = item.several ? [item.answers, [["none", words.none]]] : [[], item.answers];
    at("ticks").replaceChildren(...listed.map(([value, label]) => answer(value, label)));
    at("ticks").hidden = !listed.length;
    at("answers").replaceChildren(...below.map(([value, label]) => answer(value, label)));
    at("note").value = vote === pack.cannot ? note.replace(/^\w+(: |$)/, "") : note;
    at("cannot").open = vote === pack.cannot;
    for (const button of document.querySelectorAll("[data-reason]")) {
      const given = vote === pack.cannot && note.split(":")[0] === button.dataset.reason;
      button.setAttribute("aria-pressed", given);
    }
    at("why").textContent = at("name").textContent = "";
    at("back").disabled = place === 0;
    at("next").disabled = place === items.length - 1;
    count();
  }

  function count() {
    const done = items.filter((_, index) => isAnswered(index)).length;
    at("progress").textContent = filled(words.progress, { done, all: items.length });
    [at("bar").value, at("bar").max] = [done, items.length];
    at("finished").textContent = done === items.length ? words.finished : "";
    if (at("list").open) list();
  }

  // --- answers -----------------------------------------------------------------------------------------------------

  function store(vote, note) {
    Object.assign(record(place), { vote, note, at: new Date().toISOString() });
    keep(key(items[place].item), record(place));
    at("guideline").open = false;
  }

  function choose(value) {
    const item = items[place];
    if (item.noted.includes(value) && !at("note").value.trim()) {
      at("name").textContent = words.name;
      at("note").focus();
      return;
    }
    if (!item.several) {
      store(value, at("note").value.trim());
      return onwards();
    }
    const before = ticked().filter((one) => one !== "none" && one !== pack.cannot);
    const now = before.includes(value) ? before.filter((one) => one !== value) : [...before, value];
    const inOrder = item.answers.map(([name]) => name).filter((name) => now.includes(name)).join(" ");
    store(value === "none" ? "none" : inOrder, at("note").value.trim());
    draw();
    at(`vote-${value}`).focus();
  }

  for (const button of document.querySelectorAll("[data-reason]")) {
    button.addEventListener("click", () => {
      const note = at("note").value.trim();
      if (button.dataset.reason === "other" && !note) {
        at("why").textContent = words.why;
        at("note").focus();
        return;
      }
      store(pack.cannot, note ? `${button.dataset.reason}: ${note}` : button.dataset.reason);
      onwards();
    });
  }
  at("note").addEventListener("change", () => {
    const { vote, note } = record(place);
    const written = at("note").value.trim();
    if (!vote) {
      record(place).note = written;
      return;
    }
    const reason = note.split(":")[0];
    store(vote, vote !== pack.cannot ? written : written ? `${reason}: ${written}` : reason);
  });

  // --- from one to another -----------------------------------------------------------------------------------------

  function go(to) {
    if (to < 0 || to >= items.length) return;
    place = to;
    draw();
    scrollTo(0, 0);
    for (const pane of document.querySelectorAll(".options .pane")) pane.scrollTop = 0;
  }

  // After an answer: the next item, or one that was left open.
  function onwards() {
    const to = place + 1 < items.length ? place + 1 : firstOpen();
    if (to < 0) return draw();
    go(to);
  }

  function list() {
    at("entries").replaceChildren(...items.map((_, index) => entry(index)));
  }

  function entry(index) {
    const state = isAnswered(index) ? words.answered : words.open;
    const label = `${index + 1}, ${state}`;
    const about = { type: "button", class: isAnswered(index) ? "answered" : "", "aria-label": label };
    const button = make("button", about, String(index + 1));
    if (index === place) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => go(index));
    return button;
  }

  at("list").addEventListener("toggle", () => at("list").open && list());
  at("back").addEventListener("click", () => go(place - 1));
  at("next").addEventListener("click", () => go(place + 1));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (["INPUT", "TEXTAREA"].includes(document.activeElement?.tagName)) return;
    const value = items[place].answers.map(([name]) => name).find((name) => name === event.key.toUpperCase());
    const by = { ArrowLeft: -1, ArrowRight: 1, Backspace: -1 }[event.key];
    if (value !== undefined) choose(value);
    else if (by !== undefined) go(place + by);
  });

  // --- the file to send back ---------------------------------------------------------------------------------------

  // A value of a table that no spreadsheet takes for a formula.
  const cell = (value) => `"${String(value).replace(/^[=+\-@\t\r]/, " $&").replaceAll('"', '""')}"`;

  at("download").addEventListener("click", () => {
    const asked = items.some((item) => item.faults.length);
    const lines = items.flatMap(({ item }, index) => {
      const { vote, note, at: when, faults } = record(index);
      return vote ? [[item, vote, note, when, ...(asked ? [faults.join("; ")] : [])]] : [];
    });
    const columns = ["item", "vote", "note", "at", ...(asked ? ["faults"] : [])];
    const table = [columns, ...lines].map((line) => `${line.map(cell).join(",")}\n`);
    const href = URL.createObjectURL(new Blob(table, { type: "text/csv" }));
    const link = make("a", { download: `${pack.annotator}.votes.csv`, href });
    link.click();
    URL.revokeObjectURL(link.href);
  });

  at("guideline").open = firstOpen() === 0;
  draw();
  performance.mark("drawn");
})();
