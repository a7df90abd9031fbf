import { ApiError, noteStatus, type Schemas, sessionKey } from '@/api/client';

type Method = 'POST' | 'PUT' | 'PATCH';

interface Sending {
  method: Method;
  address: string;
  body: Blob;
  signal: AbortSignal;
  onSent: (bytes: number) => void;
}

/** Send bytes; unlike fetch, this request says how far it is. */
function send<Answer>({ method, address, body, signal, onSent }: Sending, sha256: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, address);
    for (const [name, value] of Object.entries(sessionKey.headers())) request.setRequestHeader(name, value);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    if (sha256) request.setRequestHeader('X-Content-SHA256', sha256);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => {
      noteStatus(request.status);
      if (request.status < 300) resolve(request.response as Answer);
      else reject(ApiError.of(request.status, request.response ?? {}));
    };
    request.onerror = () => reject(ApiError.unreachable());
    request.onabort = () => reject(new DOMException('the upload was paused', 'AbortError'));
    if (signal.aborted) return reject(new DOMException('the upload was paused', 'AbortError'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(body);
  });
}

/** The digest of a piece; browsers compute none for pages that came without encryption from another machine. */
async function digestOf(body: Blob): Promise<string> {
  if (!globalThis.crypto?.subtle) return '';
  const digest = await crypto.subtle.digest('SHA-256', await body.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const at = (storage: string) => `/api/v1/storages/${encodeURIComponent(storage)}`;

type How = Pick<Sending, 'signal' | 'onSent'>;

export interface Whole {
  storage: string;
  path: string;
  file: Blob;
  ifExists: Schemas['NewUpload']['if_exists'];
}

/** Write a small file in one go. */
export async function put({ storage, path, file, ifExists }: Whole, how: How): Promise<Schemas['EntryBody']> {
  const query = new URLSearchParams({ path, if_exists: ifExists ?? 'replace' });
  const address = `${at(storage)}/content?${query}`;
  return send({ method: 'PUT', address, body: file, ...how }, await digestOf(file));
}

/** Send the next piece of an upload. */
export async function append(
  storage: string,
  id: string,
  offset: number,
  piece: Blob,
  how: How,
): Promise<Schemas['UploadBody']> {
  const address = `${at(storage)}/uploads/${encodeURIComponent(id)}?offset=${offset}`;
  return send({ method: 'PATCH', address, body: piece, ...how }, await digestOf(piece));
}

/** Write many small files at once, as a tar of them. */
export async function batch(
  storage: string,
  folder: string,
  tar: Blob,
  how: How,
): Promise<Schemas['Unpacked']> {
  const address = `${at(storage)}/batch?${new URLSearchParams({ path: folder })}`;
  return send({ method: 'POST', address, body: tar, ...how }, await digestOf(tar));
}
