// Sounds, speech and vibration of this device when the game goes on; each is off until it is switched on here.
"use strict";

const STORED_AS = "alerts"; // in localStorage: the names of the switches that are on
const NOTES_HZ = { turn: [659, 880], question: [440, 330] };
const NOTE_S = 0.16;
const VIBRATION_MS = { turn: [120], question: [120, 80, 120] };

const alerts = document.getElementById("alerts");
let audio = null;

function loadSwitches() {
  let stored = "";
  try {
    stored = localStorage.getItem(STORED_AS) ?? "";
  } catch {
    // a browser that stores nothing: the switches last until the page is left
  }
  for (const field of alerts.elements) field.checked = stored.split(" ").includes(field.name);
}

function saveSwitches() {
  const chosen = [...alerts.elements].filter((field) => field.checked).map((field) => field.name);
  try {
    localStorage.setItem(STORED_AS, chosen.join(" "));
  } catch {
    // as above
  }
}

function isOn(name) {
  return alerts.elements[name].checked;
}

// Plays the notes of an alert. Browsers allow sound only after a tap, so the sound may have to be resumed.
function playNotes(kind) {
  audio ??= new AudioContext();
  audio.resume();
  NOTES_HZ[kind].forEach((frequency, i) => {
    const [start, tone, volume] = [audio.currentTime + i * NOTE_S, audio.createOscillator(), audio.createGain()];
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.25, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + NOTE_S);
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + NOTE_S);
  });
}

function speak(text) {
  const utterance = new SpeechSynthesisUtterance(text);
  utterance.lang = root.lang;
  speechSynthesis.cancel(); // only the newest turn is of interest
  speechSynthesis.speak(utterance);
}

function alertTo(kind, text) {
  if (isOn("sound")) playNotes(kind);
  if (isOn("vibration")) navigator.vibrate(VIBRATION_MS[kind]);
  if (isOn("speech")) speak(text);
}

document.addEventListener("news", ({ detail }) => {
  if (detail.spoken) alertTo(detail.question ? "question" : "turn", detail.spoken);
});

// A switch that is switched on plays a sample. This tap also allows the page to play sounds.
alerts.addEventListener("change", ({ target }) => {
  saveSwitches();
  if (!target.checked) return;
  if (target.name === "sound") playNotes("turn");
  if (target.name === "vibration") navigator.vibrate(VIBRATION_MS.turn);
  if (target.name === "speech") speak(target.parentElement.textContent.trim());
});

document.addEventListener("pointerdown", () => isOn("sound") && (audio ??= new AudioContext()).resume(), { once: true });
alerts.elements.vibration.parentElement.hidden = !("vibrate" in navigator);
alerts.elements.speech.parentElement.hidden = !("speechSynthesis" in window);
loadSwitches();
