(() => {
  const pilot = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const served = location.protocol === "http:"; // a file cannot write
  at("how").hidden = served;

  function table({ title, header, rows, note }) {
    const row = (tag, cells) => make("tr", {}, ...cells.map((cell) => make(tag, {}, cell)));
    const body = make("table", {}, make("thead", {}, row("th", header)), make("tbody", {}, ...rows.map((cells) => row("td", cells))));
    return make("div", {}, make("h3", {}, title), body, note ? make("p", { class: "muted" }, note) : null);
  }

  // --- keep = no -------------------------------------------------------------------------------------------------------------

  // A button that drops a line of a table, and a choice of reasons. about: what shows that it is dropped.
  function dropping(kind, one, about) {
    const reasons = make("select", { "aria-label": "Reason" }, make("option", { value: "" }, "no reason"));
    for (const [name, meaning] of Object.entries(pilot.reasons[kind])) reasons.append(make("option", { value: name }, `${name}: ${meaning}`));
    if (one.reason && !(one.reason in pilot.reasons[kind])) reasons.append(make("option", { value: one.reason }, one.reason));
    const button = make("button", { type: "button" });
    const draw = () => {
      const dropped = one.keep === "no";
      button.textContent = dropped ? "Dropped (keep = no)" : "Drop";
      button.setAttribute("aria-pressed", dropped);
      about.classList.toggle("dropped", dropped);
      reasons.hidden = !dropped;
      reasons.value = one.reason;
      button.hidden = !served && !dropped;
      button.disabled = reasons.disabled = !served;
    };
    const write = async (keep, reason) => {
      try {
        const reply = await fetch("keep", { method: "POST", body: JSON.stringify({ file: pilot.files[kind], id: one.id, keep, reason }) });
        at("said").textContent = reply.ok ? "" : `Not written: ${await reply.text()}`;
        if (reply.ok) Object.assign(one, { keep, reason });
      } catch (error) {
        at("said").textContent = "Not written: the command that served this page has ended. Start it again.";
      }
      draw();
    };
    button.addEventListener("click", () => write(one.keep === "no" ? "" : "no", ""));
    reasons.addEventListener("change", () => write("no", reasons.value));
    draw();
    return make("span", {}, button, " ", reasons);
  }

  // --- texts -----------------------------------------------------------------------------------------------------------------

  function answer(one, target) {
    const way = one.way ? `, ${one.way.replace("_", " ")}` : "";
    const measured = `${one.words} words (target ${target}), ${one.shared} terms of the persona (${one.share} %)`;
    return make("article", { class: "answer" }, make("h5", {}, `${one.strategy}${way}: ${one.model}`), make("p", { class: "muted" }, measured), markdown(one.text));
  }

  function question(one) {
    const section = make("section", { class: "question" });
    const about = [one.category, one.scenario].filter((part) => part).join(": ");
    const line = make("div", { class: "line" }, make("h4", {}, one.question), make("span", { class: "muted" }, about), dropping("question", one, section));
    const columns = pilot.strategies.filter((strategy) => one.answers.some((each) => each.strategy === strategy));
    const models = [...new Set(one.answers.map((each) => each.model))];
    const rows = models.flatMap((model) => columns.map((strategy) => one.answers.find((each) => each.model === model && each.strategy === strategy)));
    const grid = make("div", { class: "answers", tabindex: 0, role: "group", "aria-label": "Answers" });
    grid.style.gridTemplateColumns = `repeat(${columns.length}, minmax(17rem, 1fr))`;
    grid.append(...rows.map((each) => (each ? answer(each, one.target) : make("p", { class: "muted" }, "–"))));
    const basis = [...one.features.map((text) => `- inferred: ${text}`), ...one.memory.map((text) => `- read: ${text}`)].join("\n");
    section.append(line);
    if (basis) section.append(make("details", {}, make("summary", { class: "muted" }, "What it was drawn from"), make("div", { class: "basis" }, markdown(basis))));
    section.append(columns.length ? grid : make("p", { class: "muted" }, "No answer yet."));
    return section;
  }

  function person(one) {
    const section = make("section", { class: "person" });
    const about = make("span", { class: "muted" }, `${one.id}, ${one.split}, ${one.questions.length} questions`);
    const line = make("div", { class: "line" }, make("h3", {}, one.name || one.id), about, dropping("person", one, section));
    section.append(line, make("details", {}, make("summary", { class: "muted" }, "Persona"), profile(one.profile)), ...one.questions.map(question));
    return section;
  }

  function refused(step, texts) {
    const each = texts.map(({ id, reason, meaning, text }) => {
      const why = make("p", {}, make("b", {}, reason), meaning ? `: ${meaning} ` : " ", make("span", { class: "muted" }, id));
      return make("article", { class: "question" }, why, text ? markdown(text) : make("p", { class: "muted" }, "(nothing was written)"));
    });
    return make("details", {}, make("summary", {}, `${step}: ${texts.length}`), ...each);
  }

  at("tables").append(...pilot.tables.map(table));
  at("people").append(...pilot.people.map(person));
  const steps = [...new Set(pilot.refused.map(({ step }) => step))];
  at("refused").append(...steps.map((step) => refused(step, pilot.refused.filter((text) => text.step === step))));
  if (!steps.length) at("refused").append(make("p", { class: "muted" }, "None."));
  performance.mark("drawn");
})();
