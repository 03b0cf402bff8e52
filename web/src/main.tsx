import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { applyAccent, openSession } from './session'
import { applyTheme } from './ui/theme'
import './styles/index.css'

openSession()
applyTheme()
applyAccent()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
