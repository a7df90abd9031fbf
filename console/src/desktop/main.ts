import RFB from '@novnc/novnc';
import { type Said, words } from './words';
import './desktop.css';

// The page is at an address of its own, beside services of jobs: it knows nothing of the console's session.
interface Settings {
  job: string;
  task: string;
  password: string;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

const say = words(navigator.language);
const screen = element('screen');
const note = element('note');
document.documentElement.lang = say.language;

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

const tell = (said: Said | null) => {
  note.textContent = said ? say[said] : '';
  screen.dataset.state = said ?? 'connected';
};

async function settings(): Promise<Settings | null> {
  const answer = await fetch('settings.json');
  return answer.ok ? ((await answer.json()) as Settings) : null;
}

/** Show the desktop until the connection ends; answers whether it had begun. */
function show({ password }: Settings): Promise<boolean> {
  return new Promise((done) => {
    const url = new URL('socket', location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    screen.replaceChildren();
    const desktop = new RFB(screen, url.href, { credentials: { username: '', password, target: '' } });
    desktop.scaleViewport = true;
    desktop.resizeSession = true;
    let hasBegun = false;
    desktop.addEventListener('connect', () => {
      hasBegun = true;
      tell(null);
      desktop.focus();
    });
    desktop.addEventListener('clipboard', ({ detail }) => void copy(detail.text));
    desktop.addEventListener('disconnect', () => done(hasBegun));
    const paste = (event: ClipboardEvent) => {
      desktop.clipboardPasteFrom(event.clipboardData?.getData('text') ?? '');
    };
    window.addEventListener('paste', paste);
    desktop.addEventListener('disconnect', () => window.removeEventListener('paste', paste));
  });
}

async function copy(text: string): Promise<void> {
  // A browser may not allow it; the desktop has it anyway.
  await navigator.clipboard?.writeText(text).catch(() => undefined);
}

/** Connect, and again when the connection is lost, for as long as the desktop is there. */
async function run(): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  tell('connecting');
  for (;;) {
    const found = await settings().catch(() => undefined);
    if (found === null) {
      tell('over');
      return;
    }
    if (found) {
      document.title = `${found.job} ${found.task}`;
      if (await show(found)) pauseMs = FIRST_PAUSE_MS;
    }
    tell('lost');
    await new Promise((done) => setTimeout(done, pauseMs));
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

void run();
