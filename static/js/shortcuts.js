// Keys, as the sheet of keys lists them; menus that close again, and the list of chats.
"use strict";
{
  const root = document.documentElement;
  const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);
  const [sidebar, live] = ["sidebar", "live"].map((id) => document.getElementById(id));
  const menus = () => document.querySelectorAll("details.menu[open]");
  const rows = new Map([...document.querySelectorAll("[data-shortcut]")].map((row) => [row.dataset.shortcut, row.dataset]));
  const FIELD = "textarea, select, input:not([type=checkbox], [type=radio], [type=submit], [type=button])";

  // The keys that are down, as the list writes them; "" where one has a meaning of its own here.
  function pressed(event) {
    const { key, code, altKey, shiftKey } = event;
    const hasMod = isMac ? event.metaKey : event.ctrlKey;
    const isBare = !hasMod && !altKey && key.length === 1;
    const field = event.target.closest?.(FIELD);
    // While one types or composes: a character is a character, and Alt makes some more or moves by paragraphs.
    if (foldline.isComposing(event) || (isMac ? event.ctrlKey : event.metaKey)) return "";
    if (field && (isBare || (altKey && (key.length === 1 || field.value)))) return "";
    const name = altKey && code.startsWith("Key") ? code.slice(3) : key; // with Alt some keyboards write other letters
    return [hasMod && "mod", altKey && "alt", shiftKey && !isBare && "shift", name.toLowerCase()].filter(Boolean).join("+");
  }

  function close(menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }

  // Innermost first: a dialog or popover closes by itself, then a menu, then what was searched for; then a reply stops.
  function escapes(event) {
    if (document.querySelector("dialog[open], :popover-open")) return true;
    const open = [...menus()].pop();
    if (open) close(open);
    return Boolean(open || event.target.matches?.("[type=search]:not(:placeholder-shown)"));
  }

  function press({ presses, step }) {
    const places = [...document.querySelectorAll(presses)].filter((place) => place.checkVisibility());
    const target = Number(step) ? places[places.findIndex((place) => place.ariaCurrent) + Number(step)] : places.pop();
    if (target?.matches(FIELD)) target.focus();
    else target?.click();
    return target;
  }

  document.addEventListener("keydown", (event) => {
    const keys = !event.repeat && !event.defaultPrevented && pressed(event);
    const row = keys && rows.get(keys);
    if (!row || (keys === "escape" && escapes(event))) return;
    if (row.tells) document.dispatchEvent(new Event(row.tells));
    else if (document.querySelector("dialog[open]") || !press(row)) return;
    event.preventDefault();
  });

  // A press of something in a menu closes it; not what one types into it, nor a choice of colours.
  document.addEventListener("click", ({ target }) => {
    const isDone = target.closest(".menu-body :is(a, button)") && !target.closest("form.menu-body, .theme");
    menus().forEach((menu) => (menu.open = menu.contains(target) && !isDone));
  });

  document.body.addEventListener("htmx:afterRequest", ({ detail: { elt, successful } }) => {
    if (!successful || !elt.matches("form.menu-body")) return;
    elt.reset();
    elt.closest("details").open = false;
  });

  // The list of chats: beside the chat, or put away and then a drawer over it, as always where there is no room.
  const wide = matchMedia("(min-width: 50.01rem)");

  function putAway(value) {
    root.toggleAttribute("data-no-sidebar", value);
    document.cookie = `foldline_sidebar=${value ? "closed" : "open"}; path=/; max-age=31536000; samesite=lax`;
  }

  document.addEventListener("foldline:sidebar", () => {
    if (sidebar.matches(":popover-open") || !wide.matches) return sidebar.togglePopover();
    putAway(!root.hasAttribute("data-no-sidebar"));
  });

  sidebar.addEventListener("beforetoggle", ({ newState }) => newState === "closed" && (live.inert = false));
  sidebar.addEventListener("toggle", ({ newState }) => {
    live.inert = newState === "open";
    if (live.inert) sidebar.querySelector(".sidebar-close").focus();
  });
  wide.addEventListener("change", () => sidebar.hidePopover());

  document.body.addEventListener("foldline:theme", ({ detail }) => (root.dataset.theme = detail.theme));

  if (isMac) document.querySelectorAll("kbd").forEach((key) => (key.textContent = key.textContent.replace("Ctrl", "⌘")));
}
