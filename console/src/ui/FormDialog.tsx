import { Form, type FormInstance, type FormProps, Modal } from 'antd';
import { type ReactNode, useState } from 'react';
import { useReturnFocus } from './useReturnFocus';

interface FormDialogProps<Fields> {
  form: FormInstance<Fields>;
  title: string;
  okText: string;
  cancelText: string;
  isSaving: boolean;
  /** The field to begin with; one that is disabled is passed over. */
  first: keyof Fields & string;
  initialValues: FormProps<Fields>['initialValues'];
  width?: number;
  /** Nothing can be saved as long as a field is marked. */
  isStrict?: boolean;
  onFinish: (fields: Fields) => void;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a dialog that is there as long as it is rendered. */
export function FormDialog<Fields extends object>(props: FormDialogProps<Fields>) {
  const { form, first, isStrict = false, onClose } = props;
  useReturnFocus();
  const [isMarked, setMarked] = useState(false);
  return (
    <Modal
      open
      width={props.width}
      title={props.title}
      okText={props.okText}
      cancelText={props.cancelText}
      okButtonProps={{ disabled: isStrict && isMarked }}
      confirmLoading={props.isSaving}
      onOk={() => form.submit()}
      onCancel={onClose}
      // A dialog that opens without moving takes the focus after its fields did.
      afterOpenChange={(isOpen) => isOpen && form.focusField(first)}
    >
      <Form<Fields>
        form={form}
        layout="vertical"
        requiredMark={false}
        autoComplete="off"
        initialValues={props.initialValues}
        onFinish={props.onFinish}
        onFieldsChange={(_, all) => setMarked(all.some(({ errors = [] }) => errors.length > 0))}
      >
        {props.children}
      </Form>
    </Modal>
  );
}
