// Times as the reader's clock has them, and how long something has been going on.
"use strict";
{
  const { lang } = document.documentElement;
  // The page's language, as it is written where the reader lives: 2:30 PM or 14:30.
  const own = navigator.languages.find((each) => each.split("-")[0] === lang.split("-")[0]) || lang;

  function local(time) {
    const at = new Date(time.dateTime);
    const clock = { hour: "2-digit", minute: "2-digit" };
    const isToday = at.toDateString() === new Date().toDateString();
    return at.toLocaleString(own, isToday ? clock : { day: "numeric", month: "short", ...clock });
  }

  const secondsSince = (time) => Math.round((Date.now() - new Date(time.dateTime)) / 1000);

  function span(seconds, short, long) {
    return (seconds < 60 ? short : long).replace("{minutes}", Math.floor(seconds / 60)).replace("{seconds}", seconds % 60);
  }

  function tell() {
    for (const time of document.querySelectorAll("time[data-elapsed]")) {
      time.textContent = span(Math.max(0, secondsSince(time)), time.dataset.elapsed, time.dataset.elapsedLong);
    }
    for (const time of document.querySelectorAll("time[data-left]")) {
      const left = -secondsSince(time);
      time.textContent = left > 0 ? span(left, time.dataset.left, time.dataset.leftLong) : time.dataset.due;
    }
  }

  const exact = (at) => at.toLocaleString(own, { dateStyle: "long", timeStyle: "short" });
  const relative = new Intl.RelativeTimeFormat(lang, { numeric: "auto" });

  function ago(at, justNow) {
    const minutes = Math.floor((Date.now() - at) / 60000);
    const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86400000);
    if (minutes < 1) return justNow;
    if (minutes < 60) return relative.format(-minutes, "minute");
    if (days < 1) return relative.format(-Math.floor(minutes / 60), "hour");
    if (days < 7) return relative.format(-days, "day");
    const year = at.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
    return at.toLocaleDateString(lang, { day: "numeric", month: "short", year });
  }

  // Words for the eye; the exact time for whoever hovers or listens.
  function showAgo(time) {
    const at = new Date(time.dateTime);
    const words = ago(at, time.dataset.ago);
    if (time.firstElementChild?.textContent === words) return;
    const [seen, heard] = [document.createElement("span"), document.createElement("span")];
    seen.textContent = words;
    seen.ariaHidden = "true";
    heard.textContent = time.title = exact(at);
    heard.className = "visually-hidden";
    time.replaceChildren(seen, heard);
  }

  function left(time) {
    const minutes = Math.max(0, Math.ceil((new Date(time.dateTime) - Date.now()) / 60000));
    return minutes < 120 ? relative.format(minutes, "minute") : relative.format(Math.floor(minutes / 60), "hour");
  }

  function show() {
    document.querySelectorAll("time[data-goes]").forEach((time) => (time.textContent = left(time)));
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
