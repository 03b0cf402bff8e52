package httpapi

import "surehook.example/surehook/internal/hook"

// tlsBody holds the TLS settings in a request. Absent fields are nil: none.
type tlsBody struct {
	CA          *string `json:"ca"`
	Certificate *string `json:"certificate"`
	Key         *string `json:"key"`
}

// material translates the body. Package hook checks the content.
func (b tlsBody) material() hook.Material {
	var m hook.Material
	set(&m.CA, b.CA)
	set(&m.Certificate, b.Certificate)
	set(&m.Key, b.Key)
	return m
}

// masked returns the body for a record. Certificates are left out because they are long; the
// record of the change names the subject.
func (b tlsBody) masked() *tlsBody {
	b.CA, b.Certificate, b.Key = maskedText(b.CA), maskedText(b.Certificate), maskedText(b.Key)
	return &b
}

// tlsView is the TLS settings in a response. Stored texts are shown as ***.
type tlsView struct {
	CA          string `json:"ca,omitzero"`
	Certificate string `json:"certificate,omitzero"`
	Key         string `json:"key,omitzero"`
	Subject     string `json:"subject,omitzero"`
	NotAfter    *stamp `json:"not_after,omitzero"`
}

// viewTLS returns nil without settings.
func viewTLS(t hook.TLS, masked string) *tlsView {
	if !t.On() {
		return nil
	}
	view := new(tlsView)
	if t.CA {
		view.CA = masked
	}
	if t.Client {
		view.Certificate, view.Key, view.Subject, view.NotAfter = masked, masked, t.Subject, new(stamp(t.NotAfter))
	}
	return view
}
