package secretsmanager_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"surehook.example/surehook/internal/aws/secretsmanager"
	"surehook.example/surehook/internal/hook"
)

const arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:admin-key-AbCdEf"

// fakeSecrets answers GetSecretValue.
type fakeSecrets struct {
	value string // of the secret
	fault string // error code of every answer, if not empty
	calls int
	asked string // the secret's id
}

func (f *fakeSecrets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.calls++
	var in struct {
		SecretID string `json:"SecretId"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	f.asked = in.SecretID
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if f.fault != "" {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": f.fault, "message": "no"})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"ARN": arn, "Name": "admin-key", "SecretString": f.value})
}

type bundle struct {
	key  *secretsmanager.AdminKey
	fake *fakeSecrets
	now  *time.Time
}

func setup(t *testing.T, value string) bundle {
	t.Helper()

	fake := &fakeSecrets{value: value}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	now := time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)
	key := secretsmanager.New(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String(server.URL),
		HTTPClient:   server.Client(),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}, arn, func() time.Time { return now })
	return bundle{key: key, fake: fake, now: &now}
}

func TestAdminKey_ReadsTheSecretOnceInFiveMinutes(t *testing.T) {
	t.Parallel()

	b := setup(t, `{"user":"admin","key":"abc"}`)
	steps := []struct {
		name  string
		pass  time.Duration
		want  string
		calls int
	}{
		{name: "read on the first call", want: "shk_abc", calls: 1},
		{name: "cached for less than five minutes", pass: 5*time.Minute - 1, want: "shk_abc", calls: 1},
		{name: "read again after five minutes", pass: 1, want: "shk_new", calls: 2},
		{name: "cached again", pass: time.Minute, want: "shk_new", calls: 2},
	}
	for _, s := range steps {
		*b.now = b.now.Add(s.pass)
		got, err := b.key.AdminKey(t.Context())
		if err != nil || got != s.want || b.fake.calls != s.calls {
			t.Errorf("%s: AdminKey() = %q, %v after %d calls; want %q after %d", s.name, got, err, b.fake.calls, s.want, s.calls)
		}
		b.fake.value = `{"key":"new"}`
	}
	if b.fake.asked != arn {
		t.Errorf("secret asked for = %q; want %q", b.fake.asked, arn)
	}
}

func TestAdminKey_MalformedSecretIsInternal(t *testing.T) {
	t.Parallel()

	for _, value := range []string{"", "verysecret", `{"password":"verysecret"}`, `{"key":""}`, `{"key":["verysecret"]}`} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()

			key, err := setup(t, value).key.AdminKey(t.Context())
			if err == nil || key != "" || hook.CodeOf(err) != hook.CodeInternal {
				t.Errorf("AdminKey() of %q = %q, %v; want an internal error", value, key, err)
			}
			if err != nil && strings.Contains(err.Error(), "very") {
				t.Errorf("AdminKey() of %q = %v; want no part of the secret", value, err)
			}
		})
	}
}

func TestAdminKey_TranslatesErrors(t *testing.T) {
	t.Parallel()

	tests := []struct {
		fault string
		want  hook.Code
	}{
		{fault: "ThrottlingException", want: hook.CodeUnavailable},
		{fault: "ResourceNotFoundException", want: hook.CodeUnavailable},
		{fault: "AccessDeniedException", want: hook.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()

			b := setup(t, `{"key":"abc"}`)
			b.fake.fault = tt.fault
			if _, err := b.key.AdminKey(t.Context()); err == nil || hook.CodeOf(err) != tt.want {
				t.Errorf("AdminKey() = %v; want %s", err, tt.want)
			}
			b.fake.fault = ""
			if key, err := b.key.AdminKey(t.Context()); err != nil || key != "shk_abc" {
				t.Errorf("AdminKey() afterwards = %q, %v; want shk_abc", key, err)
			}
		})
	}
}

func TestAdminKey_EndedContextIsUnavailable(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := setup(t, `{"key":"abc"}`).key.AdminKey(ctx); err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("AdminKey() with an ended context = %v; want unavailable", err)
	}
}
