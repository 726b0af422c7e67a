// Events: one socket an open chat, frames of a reply, changes of the page, and what happens when the socket is gone.
"use strict";
{
  const byId = (id) => document.getElementById(id);
  const [root, banner, status] = ["live", "banner", "status"].map(byId);
  const SECOND = 1000;
  let known = Number(root.dataset.seen || 0);
  let socket = null;
  let [tries, frames, lastWord, asked, bannerTimer, pollTimer, retryTimer, resyncTimer] = [0, 0, 0, 0, 0, 0, 0, 0];
  let wasOpen = false;
  let heard = Date.now();

  // Not all at once: pages that lost the same server come back spread out, and with growing pauses.
  const about = (milliseconds) => milliseconds * (0.5 + Math.random());
  const pause = () => about(Math.min(15, 0.4 * 1.7 ** tries) * SECOND);
  const isOpen = () => socket?.readyState === WebSocket.OPEN;
  const queued = () => Number(byId("queue-words")?.dataset.queued || 0);
  const isWriting = () => Boolean(document.querySelector("#log article[data-status=streaming]"));

  function receive(html, { force = false } = {}) {
    heard = Date.now();
    const fragment = foldline.parse(html);
    const changes = fragment.querySelector("[data-changes]");
    const frame = fragment.querySelector("[data-frame]");
    if (frame) applyFrame(frame);
    if (changes) applyChanges(changes.dataset, fragment, force);
    if (fragment.querySelector("[data-listed]")) document.dispatchEvent(new Event("foldline:listed"));
    return Boolean(changes);
  }

  function applyChanges({ since, revision, model }, fragment, force) {
    if (Number(since) > known) return resync();
    if (Number(revision) <= known && !force) return;
    const [wasWriting, wasQueued] = [isWriting(), queued()];
    const back = foldline.scroll.mark();
    fragment.querySelectorAll("[hx-swap-oob]").forEach(foldline.place);
    known = Math.max(known, Number(revision));
    Object.assign(root.dataset, { seen: known, model });
    document.querySelectorAll("input[name=seen]").forEach((field) => (field.value = known));
    document.title = `${byId("title").textContent.trim()} · Foldline`;
    back();
    announce(wasWriting, wasQueued);
    document.dispatchEvent(new Event("foldline:changed"));
  }

  // Said once at the start and once at the end: the log itself isn't a live region.
  function announce(wasWriting, wasQueued) {
    if (!wasWriting && isWriting()) status.textContent = status.dataset.writing;
    if (wasWriting && !isWriting()) {
      const last = [...document.querySelectorAll("#log article")].pop();
      status.textContent = status.dataset[last?.dataset.status === "complete" ? "finished" : "endedEarly"];
    }
    // How many wait, whenever it is more, and where they go on waiting after the reply.
    if (queued() > wasQueued || (queued() && wasWriting && !isWriting())) status.textContent = byId("queue-words").textContent;
  }

  function applyFrame(frame) {
    frames += 1;
    const id = frame.dataset.frame;
    const tail = byId(`tail-${id}`);
    if (!tail) return acknowledge();
    const back = foldline.scroll.mark();
    const whole = "whole" in frame.dataset;
    if (whole) resyncTimer = clearTimeout(resyncTimer);
    const part = (name) => frame.querySelector(`[data-${name}]`);
    let fits = applyPart("", id, Number(frame.dataset.done), part("blocks"), part("tail"), whole);
    if (part("reasoning-blocks")) {
      const done = Number(frame.dataset.reasoningDone);
      fits = applyPart("reasoning-", id, done, part("reasoning-blocks"), part("reasoning-tail"), whole) && fits;
      const thoughts = [`reasoning-blocks-${id}`, `reasoning-tail-${id}`].map(byId);
      byId(`reasoning-${id}`).hidden = !thoughts.some((place) => place.textContent.trim());
      tellThought(byId(`reasoning-${id}`).firstElementChild, frame.dataset.thought);
    }
    foldline.patchChildren(byId(`waiting-${id}`), part("waiting"));
    back();
    (fits ? acknowledge : resync)();
  }

  function tellThought(summary, seconds) {
    if (!seconds) return;
    const words = Number(seconds) ? summary.dataset.thought.replace("{seconds}", seconds) : summary.dataset.briefly;
    if (summary.textContent !== words) summary.textContent = words;
  }

  function applyPart(prefix, id, done, fresh, freshTail, whole) {
    const blocks = byId(`${prefix}blocks-${id}`);
    const arrived = [...fresh.children];
    const count = blocks.children.length;
    if (whole) foldline.patchChildren(blocks, fresh);
    else if (count < done) return false;
    else blocks.append(...arrived.slice(count - done));
    // A page that was painted with more than this frame knows of keeps its newer tail, as does one whose tail is the same.
    if (freshTail && done + arrived.length >= blocks.children.length) {
      foldline.patchChildren(byId(`${prefix}tail-${id}`), freshTail);
    }
    return true;
  }

  // All that goes out: how far this page has seen.
  function say(extra = {}) {
    if (!isOpen()) return;
    lastWord = Date.now();
    socket.send(JSON.stringify({ seen: known, frames, ...extra }));
  }

  function acknowledge() {
    if (Date.now() - lastWord >= SECOND) say();
  }

  // Twice a second at most; put off, never dropped: no further frame may come for a while.
  function resync() {
    const wait = lastWord + SECOND / 2 - Date.now();
    if (!isOpen()) poll();
    else if (wait <= 0) say({ resync: true });
    else resyncTimer ||= setTimeout(() => { resyncTimer = 0; resync(); }, wait);
  }

  function connect() {
    const address = new URL(`${root.dataset.socket}?seen=${known}&language=${document.documentElement.lang}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    clearTimeout(retryTimer);
    warnSoon();
    socket = new WebSocket(address);
    socket.onopen = () => {
      [heard, wasOpen] = [Date.now(), true];
      if (tries) document.dispatchEvent(new Event("foldline:listed")); // what was missed of other chats
      [bannerTimer, pollTimer].forEach(clearTimeout);
      frames = bannerTimer = pollTimer = 0;
      banner.hidden = true;
    };
    socket.onmessage = (event) => receive(event.data);
    // Whatever the code says: the chat goes on, so the page comes back.
    socket.onclose = ({ code }) => {
      if (code === 4404) return warn("deleted");
      tries += 1;
      warnSoon();
      pollTimer ||= setTimeout(poll, about(SECOND));
      retryTimer = setTimeout(connect, code === 4429 ? 60 * SECOND : pause()); // 4429: too many of this person's
    };
  }

  function reconnect() {
    Object.assign(socket, { onopen: null, onmessage: null, onclose: null }).close();
    tries = 1; // what came of other chats may be missed, too
    connect();
  }

  // What is in the way, by the name of its words.
  function warn(cause) {
    if (banner.textContent !== banner.dataset[cause]) banner.textContent = banner.dataset[cause];
    banner.dataset.cause = cause;
    banner.hidden = false;
  }

  // The server answers, so it is the socket alone.
  const socketCause = () => (wasOpen ? "lost" : "blocked");

  // Where a chat begins nothing is missed but the news of other chats.
  function warnSoon() {
    if (!root.dataset.changesUrl) return;
    bannerTimer ||= setTimeout(() => banner.hidden && warn(navigator.onLine ? socketCause() : "offline"), 3 * SECOND);
  }

  async function ask({ force = false } = {}) {
    if (!root.dataset.changesUrl) return false;
    const body = new FormData(byId("command"));
    if (force) body.set("seen", 0);
    const answer = await fetch(root.dataset.changesUrl, { method: "POST", body, headers: { "HX-Request": "true" } });
    if (answer.status === 404) warn("deleted");
    else if (answer.redirected || answer.status === 403) warn("signedOut"); // 403: a token of another session
    else if (!answer.ok) throw new Error(answer.status);
    else return receive(await answer.text(), { force });
    return false;
  }

  async function poll() {
    let wait = about(2 * SECOND);
    try {
      await ask({ force: isWriting() });
      if (["unreachable", "offline"].includes(banner.dataset.cause)) warn(socketCause());
    } catch {
      warn(navigator.onLine ? "unreachable" : "offline");
      wait = Math.max(wait, pause());
    }
    pollTimer = isOpen() ? 0 : setTimeout(poll, wait);
  }

  // A socket can look open and be dead: after sleep, or behind a proxy that has forgotten it. What was missed is asked
  // for over HTTP, in case the next one is as deaf. Where even that fails, the close of a socket follows and says so.
  async function check({ isDead = false } = {}) {
    heard = Date.now();
    if (isOpen() && ((await ask().catch(() => false)) || isDead)) reconnect();
  }

  // Quiet for a while, the server is asked for any word at all. A hidden tab's timer may run once a minute only, so it
  // is the question that is timed, not the quiet; a quiet that is longer than that was a sleep.
  function beat() {
    const now = Date.now();
    if (isOpen()) tries = 0; // one that is closed again at once is no success
    if (asked > heard && now - asked >= 10 * SECOND) check({ isDead: true });
    else if (now - heard > 90 * SECOND) check();
    else if (asked <= heard && now - heard > (isWriting() ? 5 : 25) * SECOND) {
      asked = now;
      say({ ask: true });
    }
  }

  // What came into its place without a focus is told where everything is told.
  document.body.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
    const said = target.querySelector("[data-said]");
    if (said) status.textContent = said.textContent.replace(/\s+/g, " ").trim();
  });

  // Answers to commands come the same way as events.
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const { serverResponse, target } = event.detail;
    if (serverResponse.startsWith("<i hidden data-changes")) receive(serverResponse); // a message may well say so too
    else if (target.id === "meter" || target.id === "sheet") foldline.fill(target, serverResponse);
    else return;
    event.detail.shouldSwap = false;
  });

  if (root.dataset.socket) {
    connect();
    setInterval(beat, 5 * SECOND);
    document.addEventListener("visibilitychange", () => document.hidden || check());
    window.addEventListener("offline", () => warn("offline"));
    window.addEventListener("online", reconnect);
    window.addEventListener("pageshow", (event) => event.persisted && check());
  }
}
