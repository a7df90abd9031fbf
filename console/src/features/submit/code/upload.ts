import { ApiError, noteStatus, type Schemas, sessionKey } from '@/api/client';

/** Send an archive; unlike fetch, this request says how far it is. */
export function upload(
  archive: Blob,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Schemas['Upload']> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/api/v1/code');
    for (const [name, value] of Object.entries(sessionKey.headers())) request.setRequestHeader(name, value);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      noteStatus(request.status);
      if (request.status < 300) resolve(request.response as Schemas['Upload']);
      else reject(ApiError.of(request.status, request.response ?? {}));
    };
    request.onerror = () => reject(ApiError.unreachable());
    request.onabort = () => reject(new DOMException('the upload was given up', 'AbortError'));
    signal.addEventListener('abort', () => request.abort());
    request.send(archive);
  });
}
