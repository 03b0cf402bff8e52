package dynamo

import "surehook.example/surehook/internal/hook"

// authItem is the authentication of an endpoint at its receiver.
type authItem struct {
	Type     string `dynamodbav:"type"`
	Username string `dynamodbav:"username,omitempty"`
	Sealed   []byte `dynamodbav:"sealed"`

	TokenURL string `dynamodbav:"token_url,omitempty"`
	ClientID string `dynamodbav:"client_id,omitempty"`
	Scope    string `dynamodbav:"scope,omitempty"`
	Audience string `dynamodbav:"audience,omitempty"`
	InBody   bool   `dynamodbav:"in_body,omitempty"`
}

// toAuthItem returns nil without authentication.
func toAuthItem(a hook.Auth) *authItem {
	if a.Type == hook.AuthNone {
		return nil
	}
	return &authItem{
		Type: word(a.Type), Username: a.Username, Sealed: a.Sealed,
		TokenURL: a.OAuth.TokenURL, ClientID: a.OAuth.ClientID, Scope: a.OAuth.Scope, Audience: a.OAuth.Audience, InBody: a.OAuth.InBody,
	}
}

func fromAuthItem(it *authItem) (hook.Auth, error) {
	if it == nil {
		return hook.Auth{}, nil
	}
	t, err := parse[hook.AuthType](it.Type)
	return hook.Auth{
		Type: t, Username: it.Username, Sealed: it.Sealed,
		OAuth: hook.OAuth{TokenURL: it.TokenURL, ClientID: it.ClientID, Scope: it.Scope, Audience: it.Audience, InBody: it.InBody},
	}, err
}
