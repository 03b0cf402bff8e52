package httpapi

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// tlsBody holds the TLS settings in a request. Absent fields are nil: none.
type tlsBody struct {
	CA          *string `json:"ca,omitzero"`
	Certificate *string `json:"certificate,omitzero"`
	Key         *string `json:"key,omitzero"`
}

// material translates the body. Package hook checks the content.
func (b tlsBody) material() (*hook.Material, hook.Fields) {
	m := new(hook.Material)
	set(&m.CA, b.CA)
	set(&m.Certificate, b.Certificate)
	set(&m.Key, b.Key)
	return m, nil
}

// maskedTLS returns the settings for a record. Certificates are left out because they are long; the
// record of the change names the subject.
func maskedTLS(m hook.Material) tlsBody {
	return tlsBody{orNil(mask(m.CA)), orNil(mask(m.Certificate)), orNil(mask(m.Key))}
}

// tlsView is the TLS settings in a response. Stored texts are shown as ***.
type tlsView struct {
	CA          string     `json:"ca,omitzero"`
	Certificate string     `json:"certificate,omitzero"`
	Key         string     `json:"key,omitzero"`
	Subject     string     `json:"subject,omitzero"`
	NotAfter    *time.Time `json:"not_after,omitzero"`
}

// viewTLS returns nil without settings.
func viewTLS(t hook.TLS) *tlsView {
	if !t.On() {
		return nil
	}
	view := new(tlsView)
	if t.CA {
		view.CA = hook.Masked
	}
	if t.Client {
		view.Certificate, view.Key, view.Subject, view.NotAfter = hook.Masked, hook.Masked, t.Subject, new(t.NotAfter)
	}
	return view
}
