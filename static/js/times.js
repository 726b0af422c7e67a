// Times as the reader's clock has them, and how long something has been going on.
"use strict";
{
  function local(time) {
    const at = new Date(time.dateTime);
    const clock = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const isToday = at.toDateString() === new Date().toDateString();
    return isToday ? clock : `${at.toLocaleDateString([], { day: "numeric", month: "short" })}, ${clock}`;
  }

  function elapsed(time) {
    const seconds = Math.max(0, Math.round((Date.now() - new Date(time.dateTime)) / 1000));
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }

  function tell() {
    document.querySelectorAll("time[data-elapsed]").forEach((time) => (time.textContent = elapsed(time)));
  }

  const exact = (at) => at.toLocaleString([], { dateStyle: "long", timeStyle: "short" });
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

  function ago(at) {
    const minutes = Math.floor((Date.now() - at) / 60000);
    const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86400000);
    if (minutes < 1) return "just now";
    if (minutes < 60) return words.format(-minutes, "minute");
    if (days < 1) return words.format(-Math.floor(minutes / 60), "hour");
    if (days < 7) return words.format(-days, "day");
    const year = at.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
    return at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year });
  }

  // Words for the eye; the exact time for whoever hovers or listens.
  function showAgo(time) {
    const at = new Date(time.dateTime);
    if (time.firstElementChild?.textContent === ago(at)) return;
    const [seen, heard] = [document.createElement("span"), document.createElement("span")];
    seen.textContent = ago(at);
    seen.ariaHidden = "true";
    heard.textContent = time.title = exact(at);
    heard.className = "visually-hidden";
    time.replaceChildren(seen, heard);
  }

  function show() {
    document.querySelectorAll("time[data-ago]").forEach(showAgo);
    document.querySelectorAll("time[data-time]").forEach((time) => (time.textContent = local(time)));
    tell();
  }

  document.addEventListener("foldline:changed", show);
  document.addEventListener("htmx:afterSwap", show);
  setInterval(tell, 1000);
  setInterval(show, 60000);
  show();
}
