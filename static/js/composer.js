// The box: what sends, what breaks the line, and that nothing typed is ever lost.
"use strict";
{
  const form = document.getElementById("composer");
  const box = form.elements.text;
  const error = document.getElementById("composer-error");
  const words = error.dataset;
  const isTouch = matchMedia("(hover: none) and (pointer: coarse)");
  const NONE = { text: null, files: [], key: "" };
  let attempt = NONE;
  let sending = false;

  const isBlank = () => !box.value.trim() && !foldline.files.ids().length;
  const isSame = (files) => files.join() === foldline.files.ids().join();

  function newKey() {
    // randomUUID is missing on plain http beyond localhost.
    return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function grow() {
    if (CSS.supports("field-sizing", "content")) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }

  function send() {
    if (!sending && !isBlank()) form.requestSubmit();
  }

  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || foldline.isComposing(event)) return;
    const always = event.ctrlKey || event.metaKey;
    if (!always && (event.shiftKey || event.altKey || isTouch.matches)) return;
    event.preventDefault();
    if (!event.repeat) send();
  });

  // A rough count at once, about four Latin characters a token and one of any other; the server's comes after a pause.
  function guess() {
    const meter = document.querySelector("[data-meter]");
    if (!meter || foldline.files.ids().length) return; // what files take only the server knows
    const others = (box.value.match(/[^\0-\u024f]/g) || []).length;
    const typed = Math.ceil((box.value.length - others) / 4) + others;
    const used = Number(meter.dataset.used) - Number(meter.dataset.pending) + typed;
    meter.querySelector("[data-meter-used]").textContent = `≈ ${used.toLocaleString(document.documentElement.lang)}`;
  }

  box.addEventListener("input", () => {
    error.textContent = "";
    grow();
    guess();
  });

  // Before htmx hears of it: nothing blank, nothing twice, and the same key only for the same text.
  document.addEventListener("submit", (event) => {
    if (event.target !== form) return;
    const isUploading = foldline.files.isUploading();
    if (sending || isUploading || isBlank()) {
      event.preventDefault();
      event.stopPropagation();
      if (isUploading) error.textContent = document.getElementById("chips").dataset.waiting;
      return;
    }
    const files = foldline.files.ids();
    if (attempt.text !== box.value || !isSame(attempt.files)) attempt = { text: box.value, files, key: newKey() };
    form.elements.idempotency_key.value = attempt.key;
    foldline.draft.changed();
    foldline.draft.hold(); // the message says it all
  }, true);

  const setSending = (value) => form.setAttribute("aria-busy", (sending = value));

  function accepted() {
    // What was typed while the message was on its way stays.
    if (box.value.startsWith(attempt.text)) box.value = box.value.slice(attempt.text.length).trimStart();
    foldline.files.remove(attempt.files);
    attempt = NONE;
    foldline.draft.changed();
    grow();
  }

  document.body.addEventListener("foldline:sent", accepted);

  // A new meter knows nothing of what is in this box.
  document.addEventListener("foldline:changed", () => {
    if (isBlank()) return;
    guess();
    htmx.trigger(box, "foldline:meter");
  });

  // What is asked for while one types, here or in a field of search, is no command and has no word in this place.
  const isAside = (event) => event.target === box || event.detail.elt === box || Boolean(event.detail.elt.closest("[role=search]"));

  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (isAside(event)) return;
    error.textContent = "";
    if (event.detail.elt === form) setSending(true);
  });

  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt === form) setSending(false);
    const { xhr } = event.detail;
    if (!isAside(event) && xhr.responseURL.includes("/accounts/login/")) {
      error.textContent = words.signedOut;
    }
  });

  document.body.addEventListener("htmx:sendError", (event) => {
    if (!isAside(event)) error.textContent = words.offline;
  });

  document.body.addEventListener("htmx:responseError", (event) => {
    if (isAside(event)) return;
    const code = event.detail.xhr.status;
    error.textContent = { 403: words.stale, 404: words.gone, 413: words.tooMuch, 503: words.away }[code] || words.failed.replace("{code}", code);
  });

  // Send turns into Stop under the pointer: the second click of a double click must not stop the reply.
  document.getElementById("run-buttons").addEventListener("click", (event) => {
    if (event.detail > 1) event.preventDefault();
  }, true);

  foldline.attempt = () => attempt;
  attempt = foldline.draft.recall() || NONE;
  grow();
  if (!isBlank()) setTimeout(() => htmx.trigger(box, "foldline:meter"));
}
