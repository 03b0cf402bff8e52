import './link'
import './answer'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { followHeight } from './embed'
import { followLinks } from './opening'
import { followPerson } from './person'
import { applyAccent, applyLook, isPortal } from './session'
import { applyTheme } from './ui/theme'
import './styles/index.css'

if (isPortal) followLinks()
else followPerson()
applyTheme()
applyAccent()
applyLook()
const root = document.getElementById('root')!
followHeight(root)
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
