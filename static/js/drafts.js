// The draft: kept here at every key, and on the server a moment after typing stops; the newer one is in the box.
"use strict";
{
  const PAUSE = 800;
  const box = document.getElementById("text");
  const { form } = box;
  const { draft, draftUrl, draftAt, now } = form.dataset;
  const ahead = Number(now) / 1000 - Date.now(); // of the server's clock, which tells microseconds
  // Whatever is typed on this page is newer than the draft that came with it.
  const time = () => Math.max(Date.now() + ahead, Number(draftAt) + 1);
  let [timer, isChanged, isSaving, changedAt, sent] = [0, false, false, 0, null];

  const keep = (isSaved) => {
    if (box.value) foldline.store.set(draft, { text: box.value, at: time(), isSaved, sent, attempt: foldline.attempt() });
    else foldline.store.remove(draft);
  };

  function bodyOf() {
    const body = new FormData();
    body.append("text", box.value);
    body.append("age", Math.max(0, Date.now() - changedAt)); // it may be a while until the server can be reached
    body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    foldline.files.ids().forEach((id) => body.append("file", id));
    return body;
  }

  // One after the other, so that the last to arrive is the last that was typed.
  async function save() {
    if (!isChanged || isSaving) return;
    [isChanged, isSaving] = [false, true];
    const typedAt = changedAt;
    sent = box.value || null;
    const answer = await fetch(draftUrl, { method: "POST", body: bodyOf() }).catch(() => null);
    const isSaved = Boolean(answer?.ok && !answer.redirected);
    isSaving = false;
    if (isChanged) later();
    else if (isSaved && typedAt === changedAt) keep(true); // what is newer a beacon took, which tells nobody how it went
    else if (!isSaved) isChanged = true; // with the next key, or when the page goes
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE);
  }

  function changed() {
    [isChanged, changedAt] = [true, Date.now()];
    keep(false);
    later();
  }

  box.addEventListener("input", changed);
  addEventListener("online", save);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && isChanged && navigator.sendBeacon(draftUrl, bodyOf())) isChanged = false;
  });

  foldline.draft = {
    changed,
    // What the browser itself has put back, or a refused text, is never overwritten.
    recall() {
      const kept = foldline.store.get(draft);
      // What this browser had sent itself is older than what it keeps, however long it was under way.
      const isNewer = kept && !kept.isSaved && (kept.at > Number(draftAt) || kept.sent === box.defaultValue);
      const isOurs = box.value === box.defaultValue && (!box.value || Number(draftAt));
      if (isNewer && isOurs) {
        box.value = kept.text;
        changed();
      }
      return kept?.attempt;
    },
    hold: () => clearTimeout(timer),
  };
}
