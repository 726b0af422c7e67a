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

  function show() {
    document.querySelectorAll("time[data-time]").forEach((time) => (time.textContent = local(time)));
    tell();
  }

  document.addEventListener("foldline:changed", show);
  setInterval(tell, 1000);
  show();
}
