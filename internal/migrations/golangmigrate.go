package migrations

import "github.com/statigen/statigen/internal/ddl"

// golangMigrate makes golang-migrate's two files. It sends each as one message, which the server makes one transaction, so
// no BEGIN stands in it: what fails between BEGIN and COMMIT would leave the tool's own connection in a failed transaction.
func golangMigrate(p part) []File { return twoFiles(p, "", "") }

// plainSQL makes two files for any runner, and says in each how it is to be run.
func plainSQL(p part) []File { return twoFiles(p, how(p.up), how(p.down)) }

func how(all []ddl.Statement) string {
	if alone(all) {
		return comments("Run it outside of every transaction: the server refuses it in one.")
	}
	return comments("Run it in one transaction: psql --single-transaction -v ON_ERROR_STOP=1 -f")
}

func twoFiles(p part, up, down string) []File {
	head := p.mark + "\n" + comments(p.about...)
	return []File{
		{p.name + ".up.sql", []byte(head + up + "\n" + statements(p.up) + p.reviewUp())},
		{p.name + ".down.sql", []byte(head + down + "\n" + statements(p.down) + p.reviewDown())},
	}
}
