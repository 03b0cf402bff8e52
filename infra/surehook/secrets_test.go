package surehook

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"surehook.example/surehook/internal/names"
)

// punctuation is every printable ASCII character except letters, digits and the
// space.
func punctuation() string {
	var b strings.Builder
	for c := rune('!'); c <= '~'; c++ {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func TestSecrets(t *testing.T) {
	t.Parallel()

	policy := map[string]string{"dev": "Delete", "staging": "Delete", "prod": "RetainExceptOnCreate", "local": "Delete"}
	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			key := tpl.get(t, "AWS::KMS::Key", "Key")
			key.check(t, "EnableKeyRotation", true)
			if key.DeletionPolicy != policy[env.Name] {
				t.Errorf("the sealing key: %s; want %s, as the table whose secrets it opens", key.DeletionPolicy, policy[env.Name])
			}
			checkKeyPolicy(t, key)

			generate := "GenerateSecretString."
			secret := tpl.get(t, "AWS::SecretsManager::Secret", "AdminKey")
			secret.check(t, generate+"GenerateStringKey", names.SecretAdminKeyJSON)
			secret.check(t, generate+"PasswordLength", 43)
			secret.check(t, generate+"ExcludePunctuation", true)
			secret.check(t, generate+"ExcludeCharacters", punctuation())
			secret.check(t, generate+"IncludeSpace", false)
			secret.check(t, generate+"RequireEachIncludedType", false)
			secret.check(t, "SecretString", nil)
			var object map[string]string
			if err := json.Unmarshal([]byte(show(secret.at("GenerateSecretString", "SecretStringTemplate"))), &object); err != nil {
				t.Errorf("the secret's template is not a JSON object: %v", err)
			}
			if _, ok := object[names.SecretAdminKeyJSON]; ok {
				t.Errorf("the secret's template has the field %q, which is generated", names.SecretAdminKeyJSON)
			}
		})
	}
}

// checkKeyPolicy checks that the key's policy delegates to the account's IAM
// policies and allows nobody else. The table of grants holds the IAM policies.
func checkKeyPolicy(t *testing.T, key resource) {
	t.Helper()

	key.check(t, "BypassPolicyLockoutSafetyCheck", nil)
	key.check(t, "KeyUsage", nil)    // to encrypt and decrypt
	key.check(t, "MultiRegion", nil) // the key is retained with the table
	allowed := statements(key.at("KeyPolicy"))
	if len(allowed) != 1 {
		t.Fatalf("the key's policy has %d statements; want 1", len(allowed))
	}
	s := allowed[0]
	principal, _ := s["Principal"].(map[string]any)
	if !delegatesKey(key, s) || len(principal) != 1 || s["Effect"] != "Allow" || s["Action"] != "kms:*" || s["Resource"] != "*" {
		t.Errorf("the key's policy is %v; want its account alone in it", s)
	}
}
