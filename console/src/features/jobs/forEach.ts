const AT_ONCE = 4;

export interface Outcome {
  /** The ids for which it was done. */
  done: string[];
  errors: unknown[];
}

/** Do something for each id, a few at a time; one that fails keeps none of the others. */
export async function forEach(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
): Promise<Outcome> {
  const left = [...ids];
  const outcome: Outcome = { done: [], errors: [] };
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        await act(id);
        outcome.done.push(id);
      } catch (error) {
        outcome.errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcome;
}
