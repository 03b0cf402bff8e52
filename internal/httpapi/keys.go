package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// keyRecord holds the fields of a key that never change.
type keyRecord struct {
	ID        hook.KeyID     `json:"id"`
	Name      string         `json:"name"`
	Tenant    hook.TenantID  `json:"tenant"`
	Scopes    []hook.Scope   `json:"scopes"`
	CreatedAt time.Time      `json:"created_at"`
	ExpiresAt time.Time      `json:"expires_at,omitzero"`
	Networks  []netip.Prefix `json:"allowed_networks,omitempty"`
}

type keyView struct {
	keyRecord
	LastUsedOn string `json:"last_used_on,omitzero"`
}

// newKeyView is a new key in plain text, which no other response contains.
type newKeyView struct {
	keyRecord
	Key string `json:"key"`
}

func (h *manage) createKey(ctx context.Context, c *call, q apikey.Request, wrong hook.Fields) (reply, error) {
	q.Wrong = wrong
	if err := c.begin(ctx, "", q); err != nil {
		return reply{}, err
	}
	if id, err := hook.ParseTenantID(string(q.Tenant)); err == nil { // Create refuses other ids
		if err := h.Guard.Check(ctx, id, false); err != nil {
			return reply{}, err
		}
	}
	k, text, err := h.Keys.Create(ctx, q)
	if err != nil {
		return reply{}, fmt.Errorf("create key: %w", err)
	}
	c.target(string(k.ID))
	c.changed(nil, viewOf[keyRecord](k))
	return reply{status: http.StatusCreated, body: newKeyView{keyRecord: viewOf[keyRecord](k), Key: text}}, nil
}

func (h *manage) listKeys(ctx context.Context, c *call) (reply, error) {
	return viewList(listQuery(c), func(req page.Request) (page.List[hook.APIKey], error) { return h.Keys.List(ctx, req) }, viewOf[keyView])
}

func (h *manage) revokeKey(ctx context.Context, c *call, id hook.KeyID) (reply, error) {
	k, err := h.Keys.Revoke(ctx, id)
	if err != nil {
		return reply{}, fmt.Errorf("revoke key: %w", err)
	}
	c.changed(viewOf[keyRecord](k), nil)
	return reply{status: http.StatusNoContent}, nil
}
