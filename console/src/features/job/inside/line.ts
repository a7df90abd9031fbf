import { answer, api, type Schemas } from '@/api/client';

/** What a shell's connection tells beside bytes. */
export type News = 'lost' | 'back' | 'new' | 'replaced' | { exitCode: number | null };

interface Line {
  write: (data: string) => void;
  resize: (rows: number, columns: number) => void;
  leave: () => void;
}

const REPLACED = 4001;
const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5000;

type Shell = Schemas['ShellBody'];

/** A shell in a task: opened again where it was when the connection is lost, anew when the shell is gone. */
export function openLine(
  first: Shell,
  size: () => { rows: number; columns: number },
  show: (data: Uint8Array) => void,
  tell: (news: News) => void,
): Line {
  let shell = first;
  let seen = 0;
  let socket: WebSocket | null = null;
  let hasLeft = false;
  let isLost = false;
  let pauseMs = FIRST_PAUSE_MS;

  const resume = async () => {
    const path = `/api/v1/jobs/${shell.job_id}/shells/${shell.id}/stream`;
    const { ticket } = await answer(api.POST('/api/v1/session/tickets', { body: { path } }));
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const query = new URLSearchParams({ seen: String(seen), ticket });
    listen(new WebSocket(`${scheme}://${location.host}${path}?${query}`));
  };

  const listen = (opened: WebSocket) => {
    if (hasLeft) {
      opened.close();
      return;
    }
    socket = opened;
    opened.binaryType = 'arraybuffer';
    let isOver = false;
    opened.onopen = () => {
      const { rows, columns } = size();
      opened.send(JSON.stringify({ rows, columns }));
    };
    opened.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data !== 'string') {
        seen += data.byteLength;
        show(new Uint8Array(data));
        return;
      }
      const told = JSON.parse(data) as { offset?: number; exit_code?: number | null };
      if (told.offset !== undefined) {
        seen = told.offset;
        if (isLost) tell('back');
        isLost = false;
        pauseMs = FIRST_PAUSE_MS;
      } else {
        isOver = true;
        tell({ exitCode: told.exit_code ?? null });
      }
    };
    opened.onclose = ({ code }) => {
      if (hasLeft || isOver) return;
      if (code === REPLACED) tell('replaced');
      else void again();
    };
  };

  /** Try until the server is back; a shell that it no longer knows is replaced by a new one. */
  const again = async () => {
    if (!isLost) tell('lost');
    isLost = true;
    while (!hasLeft) {
      await new Promise((done) => setTimeout(done, pauseMs));
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      if (hasLeft) return;
      try {
        const params = { path: { job_id: shell.job_id } };
        const { items } = await answer(api.GET('/api/v1/jobs/{job_id}/shells', { params }));
        if (!items.some(({ id }) => id === shell.id)) {
          const body = { task: shell.task, ...size() };
          shell = await answer(api.POST('/api/v1/jobs/{job_id}/shells', { params, body }));
          seen = 0;
          isLost = false;
          tell('new');
        }
        await resume();
        return;
      } catch (error) {
        if (isRefused(error)) {
          tell({ exitCode: null });
          return;
        }
      }
    }
  };

  void resume().catch(() => void again());
  return {
    write: (data) => {
      if (socket?.readyState === WebSocket.OPEN) socket.send(new TextEncoder().encode(data));
    },
    resize: (rows, columns) => {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ rows, columns }));
    },
    leave: () => {
      hasLeft = true;
      socket?.close();
      const params = { path: { job_id: shell.job_id, shell_id: shell.id } };
      void api.DELETE('/api/v1/jobs/{job_id}/shells/{shell_id}', { params });
    },
  };
}

/** Whether to try again would be of no use: the job is over, or the right is gone. */
function isRefused(error: unknown): boolean {
  const status = (error as { status?: number }).status ?? 0;
  return status >= 400 && status < 500;
}
