import { sessionKey } from './client';
import { ALIVE_MS, type Ask, Hub } from './hub';

/** The hub where all pages of a browser find it. */
const hub = new Hub(sessionKey.keep);
setInterval(() => hub.sweep(), ALIVE_MS);

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  port.onmessage = ({ data }: MessageEvent<Ask>) => hub.hear(port, data, (news) => port.postMessage(news));
});
