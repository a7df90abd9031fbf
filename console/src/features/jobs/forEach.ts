const AT_ONCE = 4;

interface Outcome {
  nDone: number;
  errors: unknown[];
}

/** Do something for each id, a few at a time; one that fails keeps none of the others. */
export async function forEach(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
): Promise<Outcome> {
  const left = [...ids];
  const outcome: Outcome = { nDone: 0, errors: [] };
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        await act(id);
        outcome.nDone += 1;
      } catch (error) {
        outcome.errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcome;
}
