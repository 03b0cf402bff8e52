import { text } from '../text'

export function Expired() {
  return (
    <main className="signin">
      <div className="card">
        <h1>{text.signIn.portalTitle}</h1>
        <p className="soft">{text.failures.expired}</p>
      </div>
    </main>
  )
}
