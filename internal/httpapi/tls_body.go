package httpapi

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// tlsBody holds the texts of TLS settings in a request, and their masks in records and responses. Empty:
// none.
type tlsBody struct {
	CA          string `json:"ca,omitzero"`
	Certificate string `json:"certificate,omitzero"`
	Key         string `json:"key,omitzero"`
}

// material translates the body. Package hook checks the content.
func (b tlsBody) material() (*hook.Material, hook.Fields) {
	return &hook.Material{CA: b.CA, Certificate: b.Certificate, Key: b.Key}, nil
}

// maskedTLS returns the settings for a record. Certificates are left out because they are long; the
// record of the change names the subject.
func maskedTLS(m hook.Material) tlsBody {
	return tlsBody{mask(m.CA), mask(m.Certificate), mask(m.Key)}
}

// tlsView is the TLS settings in a response.
type tlsView struct {
	tlsBody
	Subject  string     `json:"subject,omitzero"`
	NotAfter *time.Time `json:"not_after,omitzero"`
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
