"use strict";
// Words are untrusted: they are only ever inserted as text (textContent), never as markup.
const byId = (id) => document.getElementById(id);

function give(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function make(tag, text, className, attributes = {}) {
  const element = give(document.createElement(tag), attributes);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

const called = (entry) => entry.title || entry.word;
const shown = (entry) => (entry.title ? `${entry.title} (${entry.word})` : entry.word);

async function ask(kind, asked) {
  const response = await fetch(`api/${kind}?${new URLSearchParams(asked)}`);
  return response.json();
}

// Send a question when typing pauses; drop an answer if a newer question has been sent.
function asker() {
  let timer, latest = 0;
  return (question, show) => {
    const number = ++latest;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const found = await question().catch(() => ({ error: "The server does not answer; is w2vneg explore still running?" }));
      if (number === latest) show(found);
    }, 80);
  };
}

function listed(entries, whenClicked) {
  const list = make("ol");
  for (const entry of entries) {
    const item = make("li", undefined, entry.why ? "entry explained" : "entry");
    const button = make("button", shown(entry), entry.only ? "only" : "", { type: "button" });
    button.addEventListener("click", () => whenClicked(entry.word));
    item.append(button, make("span", entry.rule ?? entry.score.toFixed(3), "score"));
    if (entry.why) {
      item.append(make("span", "because of " + entry.why.slice(0, 3).map((one) => `${called(one)} ${one.score.toFixed(2)}`).join(", "), "why"));
    }
    list.append(item);
  }
  return list;
}

function showColumns(place, found, whenClicked, head) {
  place.replaceChildren();
  if (!found) return;
  if (found.error) { place.append(make("p", found.error, "error")); return; }
  for (const column of found.columns) {
    const box = make("div", undefined, "column");
    if (found.columns.length > 1) box.append(make("h3", column.name));
    if (head && !column.error) box.append(make("p", head(column)));
    if (column.error) box.append(make("p", column.error, "error"));
    box.append(listed(column.near || [], whenClicked));
    if (column.kin?.length) box.append(make("p", "Kin, by rules of spelling:"), listed(column.kin, whenClicked));
    place.append(box);
  }
}

// An input with a list of completions of the word being typed. `whole`: the text is one word, accepted by Enter. `of`: what to complete, such as "users".
function completing(input, whole, changed, taken, of = "") {
  const list = make("ul", undefined, undefined, { id: `${input.id}-list`, role: "listbox", "aria-label": "Completions", hidden: "" });
  give(input, { role: "combobox", "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list" });
  give(input, { autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  input.after(list);
  const later = asker();
  let active = -1;
  const begun = () => (whole ? input.value.trim() : input.value.slice(0, input.selectionStart).match(/\S*$/)[0]);
  const close = () => { list.hidden = true; active = -1; input.setAttribute("aria-expanded", "false"); input.removeAttribute("aria-activedescendant"); };
  const mark = (number) => {
    const options = [...list.children];
    active = (number + options.length) % options.length;
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === active)));
    options[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[active].id);
  };
  const take = (word) => {
    later(async () => ({ words: [] }), () => {});
    if (whole) input.value = word;
    else {
      const end = input.selectionStart, start = end - begun().length;
      input.setRangeText(word, start, end, "end");
    }
    close();
    changed();
    if (taken) taken(word);
    input.focus();
  };
  input.addEventListener("input", () => {
    changed();
    const word = begun();
    if (!word) { later(async () => ({ words: [] }), close); return; }
    later(() => ask("complete", { q: word, of }), (found) => {
      list.replaceChildren(...(found.words || []).map((entry, i) => {
        const option = make("li", shown(entry), undefined, { id: `${list.id}-${i}`, role: "option", "aria-selected": "false" });
        option.addEventListener("mousedown", (event) => { event.preventDefault(); take(entry.word); });
        option.word = entry.word;
        return option;
      }));
      active = -1;
      const only = list.children.length === 1 && list.children[0].word === word && !taken;
      list.hidden = !list.children.length || only || document.activeElement !== input;
      input.setAttribute("aria-expanded", String(!list.hidden));
    });
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      mark(event.key === "ArrowDown" ? active + 1 : active < 0 ? -1 : active - 1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (!list.hidden && active >= 0) take(list.children[active].word);
      else if (taken && input.value.trim()) taken(input.value.trim());
      else close();
    }
  });
  input.addEventListener("blur", close);
}

const near = byId("near"), nearLater = asker();
let answered = null;  // the last answer, marked on maps
function askNear(word) {
  near.value = word;
  showNear();
  near.focus();
}
function showNear() {
  const q = near.value.trim();
  nearLater(async () => (q ? ask("near", { q }) : null), (found) => {
    const titled = found?.asked?.some((entry) => entry.title) && `Near ${found.asked.map(called).join(", ")}:`;
    showColumns(byId("near-answer"), found, askNear, titled && (() => titled));
    answered = found;
    markMap();
  });
}
completing(near, false, showNear);

const [a, b] = [byId("a"), byId("b")], compareLater = asker();
function showCompared() {
  const asked = { a: a.value.trim(), b: b.value.trim() };
  compareLater(async () => (asked.a && asked.b ? ask("compare", asked) : null), (found) => {
    const [first, second] = found?.a ? [shown(found.a), shown(found.b)] : [];
    const told = (column) => `Cosine ${column.cosine.toFixed(3)}. ${second} is number ${column.places[0].toLocaleString("en")} among the neighbours of ${first}, ` +
      `${first} number ${column.places[1].toLocaleString("en")} among those of ${second}. Near both:`;
    showColumns(byId("compare-answer"), found, (word) => { b.value = word; showCompared(); }, told);
  });
}
completing(a, true, showCompared);
completing(b, true, showCompared);

const item = byId("item"), basket = [], nextLater = asker();
function showChosen(names) {
  byId("chosen").replaceChildren(...basket.map((name, i) => {
    const title = names[i] || name;
    const button = make("button", `${title} ×`, undefined, { type: "button", "aria-label": `Remove ${title} from the basket` });
    button.addEventListener("click", () => { basket.splice(i, 1); showNext(); item.focus(); });
    return button;
  }));
}
function showNext() {
  showChosen([]);
  nextLater(async () => (basket.length ? ask("next", { items: basket.join("\n") }) : null), (found) => {
    if (found && found.items) showChosen(found.items.map(called));
    showColumns(byId("next-answer"), found, add);
  });
}
function add(name) {
  if (!basket.includes(name)) basket.push(name);
  item.value = "";
  showNext();
}
completing(item, true, () => {}, add);

const user = byId("user"), userLater = asker();
function showUser(name) {
  userLater(() => ask("user", { q: name }), (found) => {
    const more = found.items?.length > 8 ? ` and ${found.items.length - 8} more` : "";
    byId("has").textContent = found.items?.length ? `Has ${found.items.slice(0, 8).map(called).join(", ")}${more}.` : "";
    showColumns(byId("user-answer"), found, add);
  });
}
completing(user, true, () => {}, showUser, "users");

let map = null, mapOf = 0;
function markMap() {
  const { asked = [], rows = [] } = answered?.columns?.[mapOf] || {};
  if (map) map.mark([...asked, ...rows], asked.length);
}
function load(src) {
  return new Promise((done, failed) => {
    const script = make("script");
    Object.assign(script, { src, onload: done, onerror: failed });
    document.head.append(script);
  });
}
async function drawMap(of) {
  const box = byId("map"), place = make("div", undefined, "plot");
  byId("map-show").hidden = true;
  mapOf = of;
  map = null;
  box.replaceChildren(place);
  place.textContent = "Drawing …";
  if (!window.Plotly) await load("plotly.js").then(() => load("figures.js"));
  const figure = await ask("map", { of });
  if (of !== mapOf) return;  // another one was chosen meanwhile
  place.textContent = figure.error || "";
  if (figure.error) return;
  figure.layout.height = undefined;
  map = await PointMap.of(box, figure, async (row) => askNear((await ask("word", { row, of })).word));
  markMap();
}
function offerMaps(subjects) {
  const select = byId("map-of").querySelector("select"), button = byId("map-show"), largest = Math.max(...subjects.map((one) => one.words));
  byId("maps").hidden = false;
  byId("map-of").hidden = subjects.length < 2;
  select.append(...subjects.map((one) => new Option(one.name)));
  select.addEventListener("change", () => drawMap(select.selectedIndex));
  button.addEventListener("click", () => drawMap(select.selectedIndex));
  button.hidden = largest <= 200_000;
  button.textContent = `Draw ${largest.toLocaleString("en")} points`;
  if (button.hidden) drawMap(0);
}

ask("about", {}).then((about) => {
  byId("about").textContent = about.subjects.map((one) =>
    `${one.name}: ${one.words.toLocaleString("en")} ${one.noun}s, ${one.dim} dimensions${one.any_spelling ? ", any spelling" : ""}`).join(" · ");
  const { noun } = about.subjects[0];
  for (const [input, which] of [[a, "first"], [b, "second"]]) Object.assign(input, { placeholder: `${which} ${noun}`, ariaLabel: `${which} ${noun}` });
  if (noun !== "word") near.placeholder = `${noun}   or   ${noun} - ${noun} + ${noun}`;
  byId("basket").hidden = !about.next;
  byId("users").hidden = !about.users;
  if (about.users) byId("near-label").textContent = "People who liked this also liked";
  if (about.subjects[0].next) item.focus();
  if (about.map) offerMaps(about.subjects);
});
near.focus({ preventScroll: true });
