(() => {
  const pilot = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);

  // That somebody wrote keep = no into the line of a person or a question.
  function dropped(one, section) {
    const is = one.keep === "no";
    section.classList.toggle("dropped", is);
    return make("b", { hidden: !is }, one.reason ? `Dropped: ${one.reason}` : "Dropped");
  }

  function answer(one, target) {
    const way = one.way ? `, ${one.way.replace("_", " ")}` : "";
    const measured = `${one.words} words (target ${target})`;
    const heading = make("h5", {}, `${one.strategy}${way}: ${one.model}`);
    return make("article", { class: "answer" }, heading, make("p", { class: "muted" }, measured), markdown(one.text));
  }

  function question(one) {
    const section = make("section", { class: "question" });
    const about = [one.category, one.scenario].filter((part) => part).join(": ");
    const heading = make("h4", {}, one.question);
    const muted = make("span", { class: "muted" }, about);
    const line = make("div", { class: "line" }, heading, muted, dropped(one, section));
    const columns = pilot.strategies.filter((strategy) => one.answers.some((each) => each.strategy === strategy));
    const models = [...new Set(one.answers.map((each) => each.model))];
    const by = (model, strategy) => one.answers.find((each) => each.model === model && each.strategy === strategy);
    const rows = models.flatMap((model) => columns.map((strategy) => by(model, strategy)));
    const grid = make("div", { class: "answers", tabindex: 0, role: "group", "aria-label": "Answers" });
    grid.style.gridTemplateColumns = `repeat(${columns.length}, minmax(17rem, 1fr))`;
    grid.append(...rows.map((each) => (each ? answer(each, one.target) : make("p", { class: "muted" }, "–"))));
    const inferred = one.features.map((text) => `- inferred: ${text}`);
    const basis = [...inferred, ...one.memory.map((text) => `- read: ${text}`)].join("\n");
    section.append(line);
    if (basis) {
      const summary = make("summary", { class: "muted" }, "What it was drawn from");
      section.append(make("details", {}, summary, make("div", { class: "basis" }, markdown(basis))));
    }
    section.append(columns.length ? grid : make("p", { class: "muted" }, "No answer yet."));
    return section;
  }

  function person(one) {
    const section = make("section", { class: "person" });
    const about = make("span", { class: "muted" }, `${one.user_id}, ${one.split}, ${one.questions.length} questions`);
    const line = make("div", { class: "line" }, make("h3", {}, one.name || one.user_id), about, dropped(one, section));
    const persona = make("details", {}, make("summary", { class: "muted" }, "Persona"), profile(one.profile));
    section.append(line, persona, ...one.questions.map(question));
    return section;
  }

  function refused(step, texts) {
    const each = texts.map(({ id, reason, text }) => {
      const why = make("p", {}, make("b", {}, reason), " ", make("span", { class: "muted" }, id));
      const written = text ? markdown(text) : make("p", { class: "muted" }, "(nothing was written)");
      return make("article", { class: "question" }, why, written);
    });
    return make("details", {}, make("summary", {}, `${step}: ${texts.length}`), ...each);
  }

  at("people").append(...pilot.people.map(person));
  const steps = [...new Set(pilot.refused.map(({ step }) => step))];
  at("refused").append(...steps.map((step) => refused(step, pilot.refused.filter((text) => text.step === step))));
  if (!steps.length) at("refused").append(make("p", { class: "muted" }, "None."));
  performance.mark("drawn");
})();
