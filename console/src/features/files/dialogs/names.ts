const MOST_BYTES = 255;

/** What a name of a file must be. */
export const nameRule = (message: string) => ({
  validator: (_: unknown, name: string | undefined) => {
    const isGood =
      name !== undefined &&
      name !== '' &&
      name !== '.' &&
      name !== '..' &&
      !name.includes('/') &&
      !name.includes('\0') &&
      new TextEncoder().encode(name).length <= MOST_BYTES;
    return isGood ? Promise.resolve() : Promise.reject(new Error(message));
  },
});
