package memory_test

import (
	"testing"

	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestVault(t *testing.T) {
	t.Parallel()

	porttest.Vault(t, func(*testing.T) porttest.SecretVault { return memory.Vault{} })
}
