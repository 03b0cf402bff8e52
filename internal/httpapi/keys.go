package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
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

// maxCodeBody bounds the body of the only request without a key that changes something, in bytes.
const maxCodeBody = 1 << 10

type portalLinkBody struct {
	TTL    *time.Duration `json:"ttl"`
	Scopes []hook.Scope   `json:"scopes"`
}

// portalLinkView is a new link to the portal with its code, which no other response contains.
type portalLinkView struct {
	URL       string        `json:"url"`
	KeyID     hook.KeyID    `json:"key_id"`
	Tenant    hook.TenantID `json:"tenant"`
	Scopes    []hook.Scope  `json:"scopes"`
	OpenUntil time.Time     `json:"open_until"`
	ExpiresAt time.Time     `json:"expires_at"`
}

func (h *manage) createPortalLink(ctx context.Context, c *call, body portalLinkBody) (reply, error) {
	ttl := apikey.DefaultPortalTTL
	set(&ttl, body.TTL)
	if err := c.begin(ctx, "", body); err != nil {
		return reply{}, err
	}
	l, code, err := h.Links.Create(ctx, c.tenant, ttl, body.Scopes)
	if err != nil {
		return reply{}, fmt.Errorf("create portal link: %w", err)
	}
	c.target(string(l.ID))
	c.changed(nil, viewOf[keyRecord](l.APIKey()))
	view := viewOf[portalLinkView](l)
	view.URL, view.KeyID = portalURL(c.r.Host, c.tenant, code), l.ID
	return reply{status: http.StatusCreated, body: view}, nil
}

// portalURL returns the URL of the portal, at the host of the request. The code is in the
// fragment, which browsers do not send to servers.
func portalURL(host string, tenant hook.TenantID, code string) string {
	u := url.URL{Scheme: "https", Host: host, Path: "/portal"}
	name := u.Hostname()
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		u.Scheme = "http" // make dev and make run have no TLS
	}
	return u.String() + "#" + url.Values{"tenant": {string(tenant)}, "code": {code}}.Encode()
}

// endPortalSession ends the link of the caller's own key. For a key that belongs to no link it
// responds 404.
func (h *manage) endPortalSession(ctx context.Context, c *call) (reply, error) {
	return begun(h.endLink)(ctx, c, c.principal.Key)
}

// endLink ends a link by its key.
func (h *manage) endLink(ctx context.Context, c *call, id hook.KeyID) (reply, error) {
	l, err := h.Links.End(ctx, c.tenant, id)
	if err != nil {
		return reply{}, fmt.Errorf("end portal link: %w", err)
	}
	c.changed(viewOf[keyRecord](l.APIKey()), nil)
	return reply{status: http.StatusNoContent}, nil
}

type portalCodeBody struct {
	Code secret `json:"code"`
}

// portalSessionView is the key of an opened link, which no other response contains.
type portalSessionView struct {
	Key       string        `json:"key"`
	KeyID     hook.KeyID    `json:"key_id"`
	Tenant    hook.TenantID `json:"tenant"`
	Scopes    []hook.Scope  `json:"scopes"`
	ExpiresAt time.Time     `json:"expires_at"`
}

// openPortalSession exchanges the code of a link for a key. The caller has no key, so only a
// right code leaves an audit record.
func (h *manage) openPortalSession(ctx context.Context, c *call, body portalCodeBody) (reply, error) {
	l, err := h.Links.Find(ctx, c.tenant, string(body.Code))
	if err != nil {
		return reply{}, fmt.Errorf("open portal: %w", err)
	}
	c.by(hook.Principal{Key: l.ID, Name: hook.PortalKeyName, Tenant: l.Tenant})
	if err := c.begin(ctx, string(l.ID), body); err != nil {
		return reply{}, err
	}
	key, err := h.Links.Open(ctx, l)
	if err != nil {
		return reply{}, fmt.Errorf("open portal: %w", err)
	}
	view := portalSessionView{Key: key, KeyID: l.ID, Tenant: l.Tenant, Scopes: l.Scopes, ExpiresAt: l.ExpiresAt}
	return reply{status: http.StatusCreated, body: view}, nil
}
