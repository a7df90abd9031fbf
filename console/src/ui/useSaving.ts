import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormInstance } from 'antd';
import { useProblems } from './formProblems';
import { useTell } from './useTell';

interface Saving<Fields, Answer> {
  form: FormInstance<Fields>;
  save: (fields: Fields) => Promise<Answer>;
  /** What is asked for anew once it is saved, or refused. */
  changes?: QueryKey;
  onSaved: (answer: Answer) => Promise<void> | void;
}

/** Save what a form holds; what the server has against it is shown at its fields, or in a corner. */
export function useSaving<Fields extends object, Answer>({
  form,
  save,
  changes,
  onSaved,
}: Saving<Fields, Answer>) {
  const client = useQueryClient();
  const { failed } = useTell();
  const showProblems = useProblems();
  return useMutation({
    mutationFn: save,
    onSuccess: onSaved,
    onError: (error) => showProblems(form, error) || failed(error),
    // Not awaited: a form that was refused can be sent again at once.
    onSettled: () => {
      if (changes) void client.invalidateQueries({ queryKey: changes });
    },
  });
}
