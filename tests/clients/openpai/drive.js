// Calls methods of OpenPAI's own client one after the other, as the tests say, and prints what came of each.
const { PAIV1, PAIV2 } = require('@microsoft/openpai-js-sdk');

const asked = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const clients = {
  v1: new PAIV1.OpenPAIClient(asked.cluster),
  v2: new PAIV2.OpenPAIClient(asked.cluster),
};

function methodsOf(client) {
  const found = [];
  for (const [group, inner] of Object.entries(client)) {
    if (!inner || !inner.cluster || !Object.getPrototypeOf(inner)) continue;
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(inner))) {
      if (name !== 'constructor') found.push(`${group}.${name}`);
    }
  }
  return found;
}

function plain(error) {
  const data = error.data || {};
  return {
    kind: error.constructor.name,
    status: error.status || error.statusCode || null,
    code: data.code || error.code || null,
    message: String(error.message || ''),
    body: error.error || null,
  };
}

async function main() {
  const results = [];
  for (const { on, call, args } of asked.calls) {
    const path = call.split('.');
    const name = path.pop();
    const holder = path.reduce((at, step) => at[step], clients[on]);
    try {
      const value = await holder[name](...args);
      results.push({ call, value: value === undefined ? null : value });
    } catch (error) {
      results.push({ call, error: plain(error) });
    }
  }
  const methods = { v1: methodsOf(clients.v1), v2: methodsOf(clients.v2) };
  console.log(JSON.stringify({ results, methods }));
}

main();
