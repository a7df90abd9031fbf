/** A sentence whose `names` of fields and commands, between backticks, are set as code. */
export function Coded({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence never change places
      <code key={index}>{part}</code>
    ),
  );
}
