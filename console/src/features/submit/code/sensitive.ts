const NAMES = new Set([
  '.netrc',
  '.pypirc',
  '.git-credentials',
  '.npmrc',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  'id_rsa',
]);
const EXAMPLE = /\.(example|sample|template|dist)$/;
const STORE = /\.(p12|pfx|ppk)$/;
const MAY_BE_KEY = /\.(pem|key)$/;
const HEAD_BYTES = 4096;

/** Whether a file may hold secrets, as `footplate submit` tells: it is sent only when somebody asks for it. */
export async function mayHoldSecrets(path: string, file: Blob): Promise<boolean> {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (name === '.env' || (name.startsWith('.env.') && !EXAMPLE.test(name))) return true;
  if (NAMES.has(name) || STORE.test(name)) return true;
  if (!MAY_BE_KEY.test(name)) return false;
  return (await file.slice(0, HEAD_BYTES).text()).includes('PRIVATE KEY-----');
}
