import { ApiError, answer, api } from '@/api/client';
import { tarParts } from '@/features/submit/code/tar';
import { fingerprintOf, nextLoad, PIECE_BYTES, spread, type Transfer } from './transfer';
import { append, batch, put } from './wire';

const AT_ONCE = 3;
const PAUSES_MS = [500, 1000, 2000, 4000, 8000, 16_000];
const TELL_EVERY_MS = 100;

type Change = Partial<Omit<Transfer, 'id' | 'file'>>;

/** What is being uploaded. It lives outside of all pages: whoever looks elsewhere meanwhile stops nothing. */
export class Transfers {
  private all: readonly Transfer[] = [];
  private readonly running = new Map<number, AbortController>();
  private readonly listeners = new Set<() => void>();
  private readonly placed = new Set<(storage: string) => void>();
  private lastId = 0;
  private owner = '';
  private telling: ReturnType<typeof setTimeout> | undefined;

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Be told of each storage on which a file has got its name. */
  onPlaced = (listener: (storage: string) => void) => {
    this.placed.add(listener);
    return () => this.placed.delete(listener);
  };

  current = () => this.all;

  /** Whoever signs in after somebody else sees nothing of what they sent. */
  ownedBy(user: string) {
    if (this.owner && this.owner !== user) this.forgetAll();
    this.owner = user;
  }

  add(wanted: readonly Pick<Transfer, 'storage' | 'path' | 'file' | 'ifExists' | 'uploadId'>[]) {
    const added = wanted.map((one) => ({
      ...one,
      id: ++this.lastId,
      phase: 'waiting' as const,
      doneBytes: 0,
    }));
    this.put([...this.all, ...added]);
    this.pump();
  }

  pause(ids: readonly number[]) {
    this.changeAll(ids, ({ phase }) => phase === 'waiting' || phase === 'sending', { phase: 'paused' });
    for (const id of ids) this.running.get(id)?.abort();
  }

  resume(ids: readonly number[]) {
    const again = { phase: 'waiting' as const, error: undefined };
    this.changeAll(ids, ({ phase }) => phase === 'paused' || phase === 'failed', again);
    this.pump();
  }

  /** Give up, and let the server forget what has come. */
  cancel(ids: readonly number[]) {
    const gone = new Set(ids);
    for (const { id, storage, uploadId, phase } of this.all) {
      if (!gone.has(id)) continue;
      this.running.get(id)?.abort();
      if (uploadId && phase !== 'done') void forgetUpload(storage, uploadId).catch(() => undefined);
    }
    this.put(this.all.filter(({ id }) => !gone.has(id)));
  }

  clearDone() {
    this.put(this.all.filter(({ phase }) => phase !== 'done'));
  }

  private forgetAll() {
    for (const aborter of this.running.values()) aborter.abort();
    this.put([]);
  }

  private put(all: readonly Transfer[]) {
    this.all = all;
    for (const listener of this.listeners) listener();
  }

  private changeAll(ids: readonly number[], isMeant: (one: Transfer) => boolean, change: Change) {
    const meant = new Set(ids);
    this.put(this.all.map((one) => (meant.has(one.id) && isMeant(one) ? { ...one, ...change } : one)));
  }

  /** Note how far files are; people are told a few times a second. */
  private note(changes: ReadonlyMap<number, Change>) {
    this.all = this.all.map((one) => ({ ...one, ...changes.get(one.id) }));
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      this.put(this.all);
    }, TELL_EVERY_MS);
  }

  private pump() {
    while (new Set(this.running.values()).size < AT_ONCE) {
      const load = nextLoad(this.all.filter(({ phase }) => phase === 'waiting'));
      if (load.length === 0) return;
      void this.run(load);
    }
  }

  private async run(load: readonly Transfer[]) {
    const aborter = new AbortController();
    const ids = load.map(({ id }) => id);
    for (const id of ids) this.running.set(id, aborter);
    this.changeAll(ids, () => true, { phase: 'sending', error: undefined });
    const [first] = load;
    try {
      if (load.length > 1) await this.sendMany(load, aborter.signal);
      else if (first) await this.sendOne(first, aborter.signal);
      this.note(new Map(load.map(({ id, file }) => [id, { phase: 'done', doneBytes: file.size }])));
      if (first) for (const listener of this.placed) listener(first.storage);
    } catch (error) {
      if (aborter.signal.aborted) this.giveBack(ids);
      else this.note(new Map(ids.map((id) => [id, { phase: 'failed', error, isTrying: false }])));
    }
    for (const id of ids) this.running.delete(id);
    this.pump();
  }

  /** One of several was paused: the others, which went along in the same request, wait again. */
  private giveBack(ids: readonly number[]) {
    this.changeAll(ids, ({ phase }) => phase === 'sending', { phase: 'waiting', doneBytes: 0 });
  }

  private async sendMany(load: readonly Transfer[], signal: AbortSignal) {
    const files = load.map(({ path, file }) => ({ name: path, content: file, changedAt: file.lastModified }));
    const parts: BlobPart[] = [];
    for await (const part of tarParts(files)) parts.push(part);
    const onSent = (sent: number) => {
      const done = spread(load, sent);
      this.note(new Map(load.map(({ id }, index) => [id, { doneBytes: done[index] ?? 0 }])));
    };
    const storage = load[0]?.storage ?? '';
    await this.trying(load, signal, () => batch(storage, '', new Blob(parts), { signal, onSent }));
  }

  private async sendOne(one: Transfer, signal: AbortSignal) {
    const onSent = (doneBytes: number) => this.note(new Map([[one.id, { doneBytes }]]));
    if (one.file.size <= PIECE_BYTES && !one.uploadId) {
      await this.trying([one], signal, () => put(one, { signal, onSent }));
      return;
    }
    await this.trying([one], signal, () => this.sendPieces(one.id, signal));
  }

  /** From where the server says that it is, piece by piece. */
  private async sendPieces(id: number, signal: AbortSignal) {
    const one = this.all.find((item) => item.id === id);
    if (!one) return;
    const { storage, file } = one;
    const begun = await beginOrGoOn(one, signal);
    this.note(new Map([[id, { uploadId: begun.id, doneBytes: begun.done_bytes }]]));
    for (let offset = begun.done_bytes; offset < file.size; ) {
      const from = offset;
      const onSent = (sent: number) =>
        this.note(new Map([[id, { doneBytes: from + sent, isTrying: false }]]));
      const piece = file.slice(offset, offset + PIECE_BYTES);
      offset = (await append(storage, begun.id, offset, piece, { signal, onSent })).done_bytes;
      this.note(new Map([[id, { doneBytes: offset }]]));
    }
    const params = { path: { name: storage, upload_id: begun.id } };
    await answer(api.POST('/api/v1/storages/{name}/uploads/{upload_id}/finish', { params, signal }));
  }

  /** Try again by itself while the server is away. */
  private async trying<T>(load: readonly Transfer[], signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    for (let n = 0; ; n += 1) {
      try {
        return await act();
      } catch (error) {
        const pause = PAUSES_MS[n];
        if (signal.aborted || pause === undefined || !isPassing(error)) throw error;
        this.note(new Map(load.map(({ id }) => [id, { isTrying: true }])));
        await rest(pause, signal);
      }
    }
  }
}

/** Whether it may go better in a moment: the server is away, or still busy with the piece that was cut. */
const isPassing = (error: unknown) =>
  error instanceof ApiError &&
  (error.status === 0 ||
    error.status === 503 ||
    ['upload_busy', 'upload_elsewhere'].includes(error.said.message_code));

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function beginOrGoOn(one: Transfer, signal: AbortSignal) {
  const { storage, path, file, ifExists, uploadId } = one;
  const params = { path: { name: storage } };
  if (uploadId) {
    // From the list, not by its name: one that is gone is no failure.
    const { items } = await answer(api.GET('/api/v1/storages/{name}/uploads', { params, signal }));
    const found = items.find(({ id }) => id === uploadId);
    if (found) return found;
  }
  const body = { path, size_bytes: file.size, if_exists: ifExists, fingerprint: fingerprintOf(file) };
  return answer(
    api.POST('/api/v1/storages/{name}/uploads', {
      params,
      body: { ...body, sha256: '', is_executable: false },
      signal,
    }),
  );
}

const FORGET_TRIES = 5;
const FORGET_PAUSE_MS = 400;

/** Let the server forget an upload; it may still be busy with the piece that was cut. */
export async function forgetUpload(storage: string, id: string): Promise<void> {
  const params = { path: { name: storage, upload_id: id } };
  for (let n = 0; n < FORGET_TRIES; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, n * FORGET_PAUSE_MS));
    const { response } = await api.DELETE('/api/v1/storages/{name}/uploads/{upload_id}', { params });
    if (response.status !== 409) return;
  }
}

export const transfers = new Transfers();
