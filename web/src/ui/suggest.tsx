import { useEffect, useId, useState } from 'react'
import { nameOf, useEndpointOptions, useNamed } from '../api/reads'
import { Input, type Option } from './controls'
import { Field } from './form'

type Props = {
  name: string
  label: string
  value?: string
  placeholder?: string
  /** Takes the value of a suggestion, or another text as it is. */
  choose: (value: string) => void
}

/** The text once nobody has typed for a moment. */
export function useTyped(text: string) {
  const [typed, setTyped] = useState(text)
  useEffect(() => {
    const later = setTimeout(() => setTyped(text), 250)
    return () => clearTimeout(later)
  }, [text])
  return typed
}

/** A choice of an endpoint by its name. It reads the endpoints when somebody comes to it, and before only the name of its own. */
export function EndpointChoice({ tenant, ...rest }: Props & { tenant: string }) {
  const [used, setUsed] = useState(false)
  const [text, setText] = useState('')
  const one = useNamed(tenant, rest.value?.startsWith('ep_') ? rest.value : undefined).data
  const known = useEndpointOptions(tenant, used, useTyped(text))
  if (one && !known.some((o) => o.value === one.id)) known.push({ value: one.id, label: nameOf(one) })
  return <Suggest {...rest} options={known} onFocus={() => setUsed(true)} onType={setText} />
}

type SuggestProps = Props & { options: Option<string>[]; onFocus?: () => void; onType?: (text: string) => void }

/** A text with suggestions. A suggestion's label stands for its value; any other text is a value as it is. */
export function Suggest(props: SuggestProps) {
  const shown = props.options.find((o) => o.value === props.value)?.label ?? props.value ?? ''
  return <Box key={shown} {...props} shown={shown} />
}

function Box({ name, label, value = '', shown, options, placeholder, choose, onFocus, onType }: SuggestProps & { shown: string }) {
  const list = useId()
  const valueOf = (text: string) => options.find((o) => o.label === text)?.value
  const take = (text: string) => {
    const next = valueOf(text) ?? text
    if (next !== value) choose(next)
  }
  return (
    <Field name={name} label={label}>
      <Input
        list={list}
        defaultValue={shown}
        placeholder={placeholder}
        onFocus={onFocus}
        onInput={(e) => onType?.(e.currentTarget.value.trim())}
        onChange={(e) => !/^(insertText|delete|history)/.test((e.nativeEvent as InputEvent).inputType ?? '') && valueOf(e.currentTarget.value) && take(e.currentTarget.value)} // a suggestion was chosen
        onBlur={(e) => take(e.currentTarget.value.trim())}
        onKeyDown={(e) => {
          if (e.key !== 'Enter') return
          e.preventDefault() // a form around it is not sent
          e.currentTarget.blur()
        }}
      />
      <datalist id={list}>
        {options.map((o) => (
          <option key={o.value} value={o.label} />
        ))}
      </datalist>
    </Field>
  )
}
