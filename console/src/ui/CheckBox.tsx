import styles from './checkbox.module.css';

interface CheckBoxProps {
  label: string;
  isChecked: boolean;
  /** Some of what it stands for is chosen, and some is not. */
  isMixed?: boolean;
  onChange: (isChecked: boolean) => void;
}

/** The browser's own box: a list has one in each row, and drawing fifty of a library's takes a while. */
export function CheckBox({ label, isChecked, isMixed = false, onChange }: CheckBoxProps) {
  return (
    <input
      type="checkbox"
      className={styles.box}
      aria-label={label}
      checked={isChecked}
      ref={(box) => {
        if (box) box.indeterminate = isMixed;
      }}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
}
