@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_that_no_more_files_can_be_opened_is_not_said_of_a_file(tmp_path, monkeypatch, number):
    def refused(*_):
        raise OSError(number, os.strerror(number))

    (tmp_path / "there").write_text("1\n")
    tree = Tree(tmp_path)
    monkeypatch.setattr(Path, "read_bytes", refused)
    monkeypatch.setattr(os, "listdir", refused)
    for look in (tree.text, tree.cpus, tree.names, tree.number):
        with pytest.raises(OSError, match=os.strerror(number)):
            look("/there")
