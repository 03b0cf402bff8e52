package remote

import (
	"context"
	"encoding/json"
	"errors"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/private"
)

var errNetwork = errors.New("the message is for another network")

// Handler runs messages at the origin of the process: on the internet, or in the private network.
type Handler struct {
	Sender *send.Sender // with the strict policy of the origin; nil in the private network

	private map[hook.TenantID]*send.Sender // of tenants with rules of their own; "" for all others; nil on the internet
}

// NewPrivate returns the handler in the private network. The senders from newSender are those of one
// tenant, or of tenants with the same part of the list: they share no connection, because a
// connection was judged for the list of its first request.
func NewPrivate(list private.List, policy egress.Policy, newSender func(egress.Policy) *send.Sender) Handler {
	h := Handler{private: map[hook.TenantID]*send.Sender{}}
	tenants := []hook.TenantID{""}
	for _, rule := range list {
		tenants = append(tenants, rule.Tenants...)
	}
	for _, tenant := range tenants {
		policy.Private = new(list.For(tenant))
		h.private[tenant] = newSender(policy)
	}
	return h
}

// senderFor returns the sender for the request; nil in the wrong network.
func (h Handler) senderFor(p send.Prepared) *send.Sender {
	if p.Private == "" {
		return h.Sender
	}
	if own, ok := h.private[p.Private]; ok {
		return own
	}
	return h.private[""]
}

// Handle posts the request in the message and returns the answer. If the message has an unknown
// form, it makes no request, and the answer says so. Lambda can call it.
func (h Handler) Handle(ctx context.Context, message json.RawMessage) (json.RawMessage, error) {
	prepared, apiHosts, err := decodeMessage(message)
	if err != nil {
		return json.Marshal(refusalOf(err))
	}
	sender := h.senderFor(prepared)
	if sender == nil {
		return json.Marshal(refusalOf(errNetwork))
	}
	s := *sender
	s.Policy.Own = append(s.Policy.Own[:len(s.Policy.Own):len(s.Policy.Own)], apiHosts...)
	return json.Marshal(answerOf(s.Post(ctx, prepared)))
}
