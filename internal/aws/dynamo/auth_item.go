package dynamo

import "surehook/internal/hook"

// authItem is the authentication of an endpoint at its receiver.
type authItem struct {
	Type     string `dynamodbav:"type"`
	Username string `dynamodbav:"username,omitempty"`
	Sealed   []byte `dynamodbav:"sealed"`
}

// toAuthItem returns nil without authentication.
func toAuthItem(a hook.Auth) *authItem {
	if a.Type == hook.AuthNone {
		return nil
	}
	return &authItem{Type: word(a.Type), Username: a.Username, Sealed: a.Sealed}
}

func fromAuthItem(it *authItem) (hook.Auth, error) {
	if it == nil {
		return hook.Auth{}, nil
	}
	t, err := parse[hook.AuthType](it.Type)
	return hook.Auth{Type: t, Username: it.Username, Sealed: it.Sealed}, err
}
