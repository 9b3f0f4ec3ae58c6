// One case: its texts, its responses, and what each run picked.

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
