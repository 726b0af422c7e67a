// Presets: "/" in an empty box offers them, the arrow keys choose, Enter puts one in; the button does so anywhere.
"use strict";
{
  const byId = (id) => document.getElementById(id);
  const [box, list, panel, none, status, button] = ["text", "presets", "presets-panel", "presets-none", "presets-status", "presets-button"].map(byId);
  let fetched = null;
  let isDismissed = false;
  let isCalled = false; // by the button: then what stands in the box stays

  const isOpen = () => !panel.hidden;
  const shown = () => [...list.children].filter((option) => !option.hidden);
  const current = () => list.querySelector("[aria-selected=true]");

  async function fill() {
    fetched ||= fetch(list.dataset.url).then((answer) => (answer.ok && !answer.redirected ? answer.text() : Promise.reject()));
    const html = await fetched.catch(() => (fetched = null));
    if (html && !list.childElementCount) list.innerHTML = html;
  }

  function mark(option) {
    current()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) box.setAttribute("aria-activedescendant", option.id);
    else box.removeAttribute("aria-activedescendant");
  }

  function close() {
    panel.hidden = true;
    isCalled = false;
    status.textContent = "";
    mark(null);
  }

  async function open(words) {
    await fill();
    const typed = words.toLocaleLowerCase();
    for (const option of list.children) option.hidden = !option.firstElementChild.textContent.toLocaleLowerCase().includes(typed);
    const count = shown().length;
    panel.hidden = false;
    none.hidden = count > 0 || !words;
    status.textContent = !count ? none.textContent : count === 1 ? status.dataset.one : status.dataset.many.replace("{count}", count);
    mark(shown()[0]);
  }

  async function take(option) {
    const [typed, stays] = [box.value, isCalled];
    close();
    box.focus();
    const answer = await fetch(option.dataset.url).catch(() => null);
    if (!answer?.ok || answer.redirected) {
      const error = document.getElementById("composer-error");
      error.textContent = answer?.redirected ? error.dataset.signedOut : answer ? error.dataset.gone : error.dataset.offline;
      return;
    }
    const text = await answer.text();
    if (stays || box.value !== typed) box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
    else box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  box.addEventListener("input", () => {
    const [, words] = /^\/([^\n]{0,60})$/.exec(box.value) || [];
    if (words === undefined) {
      isDismissed = false;
      if (isOpen()) close();
    } else if (!isDismissed) {
      isCalled = false;
      open(words);
    }
  });

  // Before the box sends on Enter.
  box.addEventListener("keydown", (event) => {
    if (!isOpen() || foldline.isComposing(event)) return;
    const options = shown();
    const at = options.indexOf(current());
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) mark(options[(at + step + options.length) % options.length]);
    else if (event.key === "Escape") {
      isDismissed = true;
      close();
    } else if ((event.key === "Enter" || event.key === "Tab") && current() && !event.shiftKey) take(current());
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);

  button.addEventListener("click", (event) => {
    if (!foldline.isPlain(event)) return;
    event.preventDefault();
    box.focus();
    if (isOpen()) return close();
    isCalled = true;
    open("");
  });

  list.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the box
  list.addEventListener("click", ({ target }) => target.closest("[role=option]") && take(target.closest("[role=option]")));
  document.addEventListener("click", ({ target }) => isOpen() && !panel.contains(target) && target !== button && close());
}
