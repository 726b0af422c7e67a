// Find in this chat: the server knows every place, also where the page hasn't loaded it; this goes between them.
"use strict";
{
  const form = document.getElementById("find");
  const box = document.getElementById("find-q");
  const hits = document.getElementById("find-hits");
  // Whether what is told is of what is in the box; if not yet, Enter asks for a page that tells it.
  const isCurrent = () => status() && hits.dataset.for === box.value;
  const status = () => hits.querySelector("[data-positions]");

  function open() {
    form.hidden = false;
    box.focus();
    box.select();
  }

  function close() {
    form.hidden = true;
    hits.replaceChildren();
    box.value = "";
    foldline.unmark();
    history.replaceState(null, "", location.pathname);
    document.getElementById("text").focus();
  }

  // The position of the first message that can be seen.
  function firstSeen() {
    const top = foldline.scroll.scroller.getBoundingClientRect().top;
    const seen = [...document.querySelectorAll("article[id^=m-]")].find((each) => each.getBoundingClientRect().bottom > top);
    return Number(seen?.id.slice(2) || 0);
  }

  // Opens what the message lies in and marks the words; whether the page holds it.
  function show(position) {
    if (!foldline.showMessage(position)) return false;
    const found = foldline.mark(document.getElementById(`m-${position}`), box.value);
    found?.startContainer.parentElement.scrollIntoView({ block: "center" });
    return true;
  }

  function go(at, { mayLoad = true } = {}) {
    const told = status();
    const positions = JSON.parse(told?.dataset.positions || "[]");
    if (!positions.length) return;
    const index = (at + positions.length) % positions.length;
    const position = positions[index];
    told.dataset.at = index;
    told.textContent = told.dataset.words.replace("{number}", index + 1).replace("{all}", positions.length);
    if (!show(position) && mayLoad) location.assign(`?here=${encodeURIComponent(box.value)}&m=${position}#m-${position}`);
  }

  const step = (by) => go(Number(status()?.dataset.at || 0) + by);

  // What was typed is shown at once where the page holds it; what isn't loaded waits for a key.
  document.body.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (!form || detail.target !== hits) return;
    hits.dataset.for = detail.requestConfig.parameters.here;
    foldline.unmark();
    const positions = JSON.parse(status()?.dataset.positions || "[]");
    const from = firstSeen();
    const at = positions.findIndex((position) => position >= from);
    go(at < 0 ? positions.length - 1 : at, { mayLoad: false });
  });

  form?.addEventListener("keydown", (event) => {
    if (foldline.isComposing(event)) return;
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && event.target === box && isCurrent()) step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  });

  form?.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-find-step], [data-find-close]");
    if (!pressed || !foldline.isPlain(event)) return;
    event.preventDefault();
    if ("findStep" in pressed.dataset) step(Number(pressed.dataset.findStep));
    else close();
  });

  // A page that was asked for with what is looked for.
  if (form && !form.hidden) {
    hits.dataset.for = box.value;
    if (location.hash.startsWith("#m-")) show(location.hash.slice(3));
    // An address with a place in it takes no notice of "autofocus", and takes the focus away once it is there.
    addEventListener("load", () => box.focus({ preventScroll: true }), { once: true });
  }
  document.addEventListener("foldline:find", () => form && open());
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-find]")) return;
    event.preventDefault();
    open();
  });
}
