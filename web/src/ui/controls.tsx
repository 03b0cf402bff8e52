import { Button as Base } from '@base-ui/react/button'
import { Checkbox } from '@base-ui/react/checkbox'
import { Field as BaseField } from '@base-ui/react/field'
import { Select as BaseSelect } from '@base-ui/react/select'
import { Tooltip } from '@base-ui/react/tooltip'
import { Check, ChevronsUpDown, Copy, X } from 'lucide-react'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { text } from '../text'

type Look = 'primary' | 'danger' | 'quiet' | 'plain'

export function Button({ look = 'plain', tiny, className = '', ...rest }: ComponentProps<typeof Base> & { look?: Look | 'primary danger'; tiny?: boolean }) {
  return <Base className={`button ${look === 'plain' ? '' : look} ${tiny ? 'tiny' : ''} ${className}`} {...rest} />
}

export function IconButton({ label, children, ...rest }: ComponentProps<typeof Base> & { label: string }) {
  return (
    <Tip text={label}>
      <Base className="button quiet icon" aria-label={label} {...rest}>
        {children}
      </Base>
    </Tip>
  )
}

/** A tooltip, while the pointer or the focus is on the children. */
export function Tip({ text: tip, children }: { text: ReactNode; children: React.ReactElement<Record<string, unknown>> }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="positioner">
          <Tooltip.Popup className="tip">{tip}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}

export function CopyButton({ value, label }: { value: string; label: string }) {
  const [result, setResult] = useState<'copied' | 'notCopied'>()
  const copy = async () => {
    const written = navigator.clipboard?.writeText(value) ?? Promise.reject(new Error('no clipboard'))
    setResult(await written.then(() => 'copied' as const, () => 'notCopied' as const))
    setTimeout(() => setResult(undefined), 1500)
  }
  return (
    <button type="button" aria-label={result ? text[result] : `${text.copy} ${label}`} title={result && text[result]} onClick={() => void copy()}>
      {result === 'copied' ? <Check size={13} /> : result ? <X size={13} /> : <Copy size={13} />}
    </button>
  )
}

/** An id with a button that copies it. */
export function Id({ value, children }: { value: string; children?: ReactNode }) {
  return (
    <span className="id">
      {children ?? <code>{value}</code>}
      <CopyButton value={value} label={value} />
    </span>
  )
}

export function Input(props: ComponentProps<typeof BaseField.Control>) {
  return <BaseField.Control className="input" autoComplete="off" spellCheck={false} {...props} />
}

export function TextArea(props: ComponentProps<'textarea'>) {
  return <BaseField.Control className="input" spellCheck={false} render={<textarea {...props} />} />
}

export type Option<T extends string> = { value: T; label: string }

type SelectProps<T extends string> = { options: Option<T>[]; label?: string } & ({ value: T; onChange: (v: T) => void } | { defaultValue: T })

/** A list of options to choose from. With defaultValue, the form around it reads the choice. */
export function Select<T extends string>({ options, label, ...rest }: SelectProps<T>) {
  const choice = 'value' in rest ? { value: rest.value, onValueChange: (v?: T | null) => v && rest.onChange(v) } : { defaultValue: rest.defaultValue }
  return (
    <BaseSelect.Root items={options} {...choice}>
      <BaseSelect.Trigger className="input select" aria-label={label}>
        <BaseSelect.Value />
        <ChevronsUpDown size={13} aria-hidden />
      </BaseSelect.Trigger>
      <BaseSelect.Portal>
        <BaseSelect.Positioner alignItemWithTrigger={false} sideOffset={4} className="positioner">
          <BaseSelect.Popup className="popup">
            {options.map((o) => (
              <BaseSelect.Item key={o.value} value={o.value} className="option">
                <BaseSelect.ItemText>{o.label}</BaseSelect.ItemText>
              </BaseSelect.Item>
            ))}
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  )
}

export function CheckBox({ checked, onChange, children }: { checked: boolean; onChange: (v: boolean) => void; children: ReactNode }) {
  return (
    <label className="check">
      <Checkbox.Root checked={checked} onCheckedChange={onChange} className="box">
        <Checkbox.Indicator>
          <Check size={12} strokeWidth={3} />
        </Checkbox.Indicator>
      </Checkbox.Root>
      <span>{children}</span>
    </label>
  )
}
