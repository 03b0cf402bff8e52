package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"surehook/internal/admin/apikey"
	"surehook/internal/hook"
)

type portalLinkBody struct {
	TTL    *duration    `json:"ttl"`
	Scopes []hook.Scope `json:"scopes"`
}

// portalLinkView is a link to the portal, with a key in clear. No other response holds the
// clear text.
type portalLinkView struct {
	URL       string        `json:"url"`
	KeyID     hook.KeyID    `json:"key_id"`
	Tenant    hook.TenantID `json:"tenant"`
	Scopes    []hook.Scope  `json:"scopes"`
	ExpiresAt stamp         `json:"expires_at"`
}

func (h *manage) createPortalLink(ctx context.Context, c *call) (reply, error) {
	var body portalLinkBody
	if err := decodeOptional(c, &body); err != nil {
		return reply{}, err
	}
	ttl := apikey.DefaultPortalTTL
	if body.TTL != nil {
		ttl = time.Duration(*body.TTL)
	}
	if err := c.begin(ctx, "", body); err != nil {
		return reply{}, err
	}
	k, text, err := h.Keys.CreatePortal(ctx, c.tenant, ttl, body.Scopes)
	if err != nil {
		return reply{}, fmt.Errorf("create portal link: %w", err)
	}
	c.target(string(k.ID))
	c.changed(nil, recordOf(k))
	view := portalLinkView{URL: portalURL(c.r.Host, c.tenant, text), KeyID: k.ID, Tenant: k.Tenant, Scopes: k.Scopes, ExpiresAt: stamp(k.ExpiresAt)}
	return reply{status: http.StatusCreated, body: view}, nil
}

// portalURL returns the URL of the portal at the host of the request. The key is in the
// fragment, which browsers send to no server.
func portalURL(host string, tenant hook.TenantID, key string) string {
	u := url.URL{Scheme: "https", Host: host, Path: "/portal"}
	name := u.Hostname()
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		u.Scheme = "http" // make dev and make run have no TLS
	}
	return u.String() + "#" + url.Values{"tenant": {string(tenant)}, "key": {key}}.Encode()
}
