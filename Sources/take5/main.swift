print("take5")
