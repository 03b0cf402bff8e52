package attempt

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// maxMaterials bounds the decrypted TLS settings that a process keeps, in bytes.
const maxMaterials = 2 << 20

var (
	errOtherTLS = errors.New("the TLS settings were changed in the meantime")
	errNoKey    = errors.New("the sealed text is not a TLS key")
)

// materials keeps the decrypted TLS settings of endpoints, by the id of the material. The zero
// value is empty.
type materials struct {
	once sync.Once
	kept *cache.Cache[string, send.TLS]
}

func (m *materials) cache() *cache.Cache[string, send.TLS] {
	m.once.Do(func() {
		m.kept = cache.New[string, send.TLS](maxMaterials, nil)
	})
	return m.kept
}

// openTLS returns the TLS settings of the endpoint. A process reads and decrypts each material
// once. If the settings have changed since the endpoint was loaded, openTLS returns an error, so
// that the messages come again and load the new endpoint.
func (m *Maker) openTLS(ctx context.Context, e *hook.Endpoint) (send.TLS, error) {
	if !e.TLS.On() {
		return send.TLS{}, nil
	}
	id := string(e.ID) + " " + e.TLS.ID
	if settings, ok := m.materials.cache().Get(id); ok {
		return settings, nil
	}
	stored, err := m.Store.TLSMaterial(ctx, e.Tenant, e.ID)
	if err != nil {
		return send.TLS{}, fmt.Errorf("read: %w", err)
	}
	if stored.ID != e.TLS.ID {
		return send.TLS{}, errOtherTLS
	}
	settings := send.TLS{CA: stored.CA, Certificate: stored.Certificate}
	if len(stored.Sealed) > 0 {
		text, err := m.Vault.Open(ctx, stored.Sealed, e.Tenant, e.ID)
		if err != nil {
			return send.TLS{}, fmt.Errorf("open: %w", err)
		}
		var ok bool
		if settings.Key, ok = hook.KeyOf(text); !ok {
			return send.TLS{}, errNoKey
		}
	}
	m.materials.cache().Add(id, settings, len(id)+settings.Bytes())
	return settings, nil
}
