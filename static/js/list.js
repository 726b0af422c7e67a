// The list of chats: fetched anew when it is another, as its page has it; ticks, and chats that are dragged.
"use strict";
{
  const place = document.getElementById("sidebar-chats");
  const MOMENT = 300; // a reply's end and the page that shows it at once come together
  let timer = 0;

  const rowsByDay = () => place.querySelectorAll("#chats-by-day li[id]").length;

  async function refresh() {
    timer = 0;
    const address = new URL(document.getElementById("list").dataset.list, location.href);
    address.searchParams.set("most", rowsByDay());
    const answer = await fetch(address, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const back = focusBack();
    foldline.fill(place, await answer.text());
    back();
    count();
  }

  // What had the focus may be moved or gone: then what stands for it has it, or the list itself.
  function focusBack() {
    const focused = document.activeElement;
    if (!place.contains(focused)) return () => {};
    const row = focused.closest("[id]");
    const [name, tag] = [row.id, focused.className];
    return () => {
      if (place.contains(document.activeElement)) return;
      const there = document.getElementById(name);
      const again = there && [there, ...there.querySelectorAll("a, button, input")].find((each) => each.className === tag);
      (again || place).focus();
    };
  }

  document.addEventListener("foldline:listed", () => (timer ||= setTimeout(refresh, MOMENT)));

  // Ticks of "Select".
  const ticks = () => [...place.querySelectorAll("input[name=chat]")];

  function count() {
    const words = place.querySelector("[data-ticked]");
    if (words) words.textContent = words.dataset.words.replace("{count}", ticks().filter((tick) => tick.checked).length);
  }

  place.addEventListener("change", count);
  place.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-tick-all]")) return;
    const all = ticks();
    const isOn = !all.every((tick) => tick.checked);
    all.forEach((tick) => (tick.checked = isOn));
    count();
  });
  document.body.addEventListener("htmx:afterSwap", ({ detail }) => detail.target === place && count());

  // A chat is dragged into a folder, or back to the days.
  const TYPE = "application/x-foldline-chat";
  const CHAT = /^\/chats\/[0-9a-f-]{36}\/$/;
  const folderAt = (event) => event.dataTransfer.types.includes(TYPE) && event.target.closest?.("[data-folder]");

  place.addEventListener("dragstart", (event) => {
    const link = event.target.closest?.("[data-chat-link]");
    if (link) event.dataTransfer.setData(TYPE, link.dataset.chatLink);
  });
  for (const name of ["dragenter", "dragover"]) {
    place.addEventListener(name, (event) => {
      const folder = folderAt(event);
      place.querySelectorAll(".drop").forEach((each) => each !== folder && each.classList.remove("drop"));
      if (!folder) return;
      event.preventDefault();
      folder.classList.add("drop");
    });
  }
  document.addEventListener("dragend", () => place.querySelectorAll(".drop").forEach((each) => each.classList.remove("drop")));
  place.addEventListener("drop", (event) => {
    const folder = folderAt(event);
    if (!folder) return;
    event.preventDefault();
    folder.classList.remove("drop");
    const address = event.dataTransfer.getData(TYPE);
    if (!CHAT.test(address)) return; // another site's page may have dragged anything here
    const values = { folder: folder.dataset.folder };
    htmx.ajax("POST", `${address}move/`, { source: place, swap: "none", values });
  });
}
